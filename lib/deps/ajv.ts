/**
 * JSON Schema validation: Ajv, one class a draft, and the formats.
 *
 * Everything is taken by its name: what the `default` of a CommonJS module is differs between its types, a run from
 * sources and a bundle. So the formats come from the file that names them, not from the plugin that adds them.
 */
export { _, Ajv, MissingRefError, Name } from "npm:ajv@8.20.0";
export type { ErrorObject, KeywordCxt, ValidateFunction } from "npm:ajv@8.20.0";
export { Ajv2019 } from "npm:ajv@8.20.0/dist/2019.js";
export { Ajv2020 } from "npm:ajv@8.20.0/dist/2020.js";
export { fullFormats } from "npm:ajv-formats@3.0.1/dist/formats.js";

/** The environment variables that these packages read: none. */
export const AJV_ENVIRONMENT = [] as const;
