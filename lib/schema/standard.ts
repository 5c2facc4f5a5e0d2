/**
 * Input schemas of tools that programs define: plain JSON Schema, or a validator of the Standard Schema family (Zod,
 * ArkType, Valibot) that can also say its JSON Schema.
 */
import { ConfigurationError, messageOf } from "../base/errors.ts";
import { isJsonObject, jsonTypeOf, type JsonValue } from "../base/json.ts";
import { copyJson, freezeJson } from "./copy.ts";
import { compileSchema, type JsonSchema } from "./schema.ts";

/** What a tool's arguments are checked with. */
export interface ToolInputSchema {
  /** The JSON Schema for the model; a frozen copy with `type: "object"` at its root. */
  readonly schema: JsonSchema;
  /**
   * Checks arguments: `value` is what the tool gets (a Standard Schema may have transformed it), `issues` what is wrong,
   * joined with `; `. Rejects only with what a validator of the user's own throws.
   */
  validate(value: unknown): Promise<{ value: unknown } | { issues: string }>;
}

/** A validator that follows Standard Schema and can write itself as JSON Schema. */
export interface StandardSchema {
  /** The contract's only key. */
  readonly "~standard": {
    /** Who made it, for messages. */
    readonly vendor?: string;
    /** Checks a value and may change it. */
    validate(value: unknown): StandardResult | Promise<StandardResult>;
    /** Writes JSON Schema. */
    readonly jsonSchema: { input(options: { readonly target: string }): Record<string, unknown> };
  };
}

/** What a Standard Schema's `validate` gives: a value when there are no issues. */
export interface StandardResult {
  /** The output. */
  readonly value?: unknown;
  /** What is wrong; absent on success. */
  readonly issues?:
    | readonly {
      readonly message: string;
      readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
    }[]
    | undefined;
}

const LABEL = "inputSchema";

/** A validator that follows Standard Schema, whether or not it can write itself as JSON Schema. */
export interface StandardValidator<T = unknown> {
  /** The contract's only key. */
  readonly "~standard": {
    /** Checks a value and may change it. */
    validate(value: unknown): StandardOutcome<T> | Promise<StandardOutcome<T>>;
  };
}

/** What a validator gives: a value, or issues. */
export type StandardOutcome<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

/** Whether a value follows Standard Schema. */
export function isStandardValidator(value: unknown): value is StandardValidator {
  return typeof standardPart(value)?.["validate"] === "function";
}

/** Whether a value is a Standard Schema that can write itself as JSON Schema. ArkType's are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  const standard = standardPart(value);
  return standard !== undefined && typeof standard.validate === "function" && isHolder(standard.jsonSchema) &&
    typeof standard.jsonSchema.input === "function";
}

/**
 * Takes the input schema of a tool. A Standard Schema's converter is called once, here.
 *
 * @param input Plain JSON Schema with `type: "object"` at its root, or a Standard Schema that converts to one.
 * @throws {ConfigurationError} When it is neither, or cannot be used (`SchemaError`: the JSON Schema is invalid).
 */
export function toolInputSchema(input: unknown): ToolInputSchema {
  if (isStandardSchema(input)) return fromStandard(input);
  const standard = standardPart(input);
  if (standard !== undefined) {
    throw new ConfigurationError(
      `${LABEL}: this ${vendorOf(standard)} validator cannot write itself as JSON Schema: it has no ` +
        "`~standard.jsonSchema.input` (Zod from 4.2 and ArkType have it; for Valibot use toStandardJsonSchema of " +
        "@valibot/to-json-schema)",
    );
  }
  return fromPlain(input);
}

function fromPlain(input: unknown): ToolInputSchema {
  if (!isJsonObject(input)) {
    throw new ConfigurationError(
      `${LABEL} must be a JSON Schema or a Standard Schema (got ${
        input === undefined ? "nothing" : jsonTypeOf(input)
      })`,
    );
  }
  const schema = objectSchema(input, LABEL);
  const compiled = compileSchema(schema, { schemaName: LABEL });
  return Object.freeze({
    schema,
    validate(value: unknown) {
      const issues = compiled.explain(value);
      return Promise.resolve(issues === undefined ? { value } : { issues });
    },
  });
}

/**
 * A Standard Schema as JSON Schema, without the dialect's name.
 *
 * @throws {ConfigurationError} When its converter fails, or gives no object.
 */
export function writtenAsJsonSchema(input: StandardSchema, what: string): Readonly<Record<string, JsonValue>> {
  const standard = input["~standard"];
  const label = `${what} (${vendorOf(standard)})`;
  let converted: unknown;
  try {
    converted = standard.jsonSchema.input({ target: "draft-2020-12" });
  } catch (error) {
    throw new ConfigurationError(`${label} cannot be written as JSON Schema: ${messageOf(error)}`, { cause: error });
  }
  if (!isJsonObject(converted)) {
    throw new ConfigurationError(`${label} must be written as a JSON Schema object (got ${jsonTypeOf(converted)})`);
  }
  const { $schema: _dialect, ...rest } = converted;
  return rest;
}

function fromStandard(input: StandardSchema): ToolInputSchema {
  const standard = input["~standard"];
  const label = `${LABEL} (${vendorOf(standard)})`;
  return Object.freeze({
    schema: objectSchema(writtenAsJsonSchema(input, LABEL), label),
    async validate(value: unknown) {
      try {
        const { issues, value: output } = await standard.validate(value);
        if (issues === undefined) return { value: output };
        return { issues: Array.from(issues, issueText).join("; ") || "the arguments do not fit" };
      } catch (error) {
        // A schema that refers to itself, and a value deeper than the stack.
        if (error instanceof RangeError) return { issues: "the arguments are nested too deeply to be checked" };
        throw error;
      }
    },
  });
}

function objectSchema(input: object, label: string): JsonSchema {
  const schema = freezeJson(copyJson(input, label)) as JsonSchema & object;
  if (schema.type === "object") return schema;
  const got = schema.type === undefined ? "no type" : JSON.stringify(schema.type);
  throw new ConfigurationError(`${label} must have \`type: "object"\` at its root (got ${got})`);
}

type StandardIssue = NonNullable<StandardResult["issues"]>[number];

function issueText({ message, path }: StandardIssue): string {
  const keys = (path ?? []).map((part) => String(typeof part === "object" ? part.key : part));
  return keys.length === 0 ? message : `${keys.join(".")}: ${message}`;
}

function standardPart(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const standard = isHolder(value) ? value["~standard"] : undefined;
  return isHolder(standard) ? standard : undefined;
}

function isHolder(value: unknown): value is Readonly<Record<string, unknown>> {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function vendorOf(standard: { readonly vendor?: unknown }): string {
  return typeof standard.vendor === "string" ? standard.vendor : "Standard Schema";
}
