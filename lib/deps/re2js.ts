/** Regular expressions in linear time. */
export { RE2JS } from "npm:re2js@2.10.0";

/** The environment variables that the package reads: none. */
export const RE2JS_ENVIRONMENT = [] as const;
