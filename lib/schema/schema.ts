/** JSON Schema: compiled once, then any number of values checked, with messages that people and models can act on. */
import { LIMITS } from "../base/limits.ts";
import { isJsonObject, jsonTypeOf, type JsonValue } from "../base/json.ts";
import { compileCopy, type SchemaCheck } from "./compile.ts";
import { SchemaError } from "./error.ts";
import type { SchemaIssue } from "./issues.ts";

export { SchemaError } from "./error.ts";
export type { SchemaIssue } from "./issues.ts";

/** A JSON Schema: `true` (anything), `false` (nothing), or an object of keywords. */
export type JsonSchema = boolean | { readonly [keyword: string]: JsonValue };

/** Options of `compileSchema`. */
export interface CompileSchemaOptions {
  /** What a checked value is called in the paths of issues. Default `"input"`. */
  readonly name?: string;
  /** What the schema itself is called in the paths of errors, such as `"parameters"`. Default `"schema"`. */
  readonly schemaName?: string;
}

/** A schema that is ready to check values. */
export interface CompiledSchema {
  /** The schema that was given. */
  readonly schema: JsonSchema;
  /** Everything that is wrong with a value; empty when it fits. Never throws for a value, however deep it is. */
  check(value: unknown): readonly SchemaIssue[];
  /** The issues' sentences joined with `; `, the first 100 of them; undefined when the value fits. */
  explain(value: unknown): string | undefined;
}

// By the object given. A schema changed after it was compiled stays what it was.
const compiledChecks = new WeakMap<object, SchemaCheck>();

/**
 * Makes a schema ready to check values. The schema is copied, never changed, and remembered: compiling the same object
 * again costs nothing, and changing it afterwards has no effect.
 *
 * Drafts: 2020-12 (also when `$schema` is missing), 2019-09, draft-07 and draft-06 (read as draft-07). A schema without
 * `$schema` that only draft-07 allows (`items: [...]`) is read as that. Formats are checked, unknown ones pass.
 *
 * @throws {SchemaError} When the schema is no object or boolean, or is invalid, names an unknown `$schema`, or refers
 * to another document.
 * @example
 * ```ts
 * import { compileSchema } from "./schema.ts";
 * const city = compileSchema({ type: "object", required: ["name"] });
 * console.assert(city.explain({}) === "input is missing required field(s): name");
 * ```
 */
export function compileSchema(schema: unknown, options: CompileSchemaOptions = {}): CompiledSchema {
  const { name = "input", schemaName = "schema" } = options;
  if (typeof schema === "boolean") return new Compiled(schema, constantCheck(schema), name);
  if (!isJsonObject(schema)) {
    throw new SchemaError(
      schemaName,
      `${schemaName} must be a JSON Schema, an object or a boolean (got ${jsonTypeOf(schema)})`,
    );
  }
  let check = compiledChecks.get(schema);
  if (check === undefined) {
    check = compileCopy(schema, schemaName);
    compiledChecks.set(schema, check);
  }
  return new Compiled(schema, check, name);
}

class Compiled implements CompiledSchema {
  readonly schema: JsonSchema;
  readonly #check: SchemaCheck;
  readonly #name: string;

  constructor(schema: JsonSchema, check: SchemaCheck, name: string) {
    this.schema = schema;
    this.#check = check;
    this.#name = name;
    Object.freeze(this);
  }

  check(value: unknown): readonly SchemaIssue[] {
    try {
      return this.#check(value, this.#name);
    } catch (error) {
      // A schema that refers to itself follows the value down, and the stack ends before the value does.
      if (!(error instanceof RangeError)) throw error;
      return [{ path: this.#name, message: `${this.#name} is nested too deeply to be checked`, keyword: "depth" }];
    }
  }

  explain(value: unknown): string | undefined {
    const issues = this.check(value);
    if (issues.length === 0) return undefined;
    const sentences = issues.slice(0, LIMITS.faultsShown).map((issue) => issue.message);
    if (issues.length > LIMITS.faultsShown) sentences.push(`and ${issues.length - LIMITS.faultsShown} more`);
    return sentences.join("; ");
  }
}

function constantCheck(fits: boolean): SchemaCheck {
  return (_value, label) => fits ? [] : [{ path: label, message: `${label} is not allowed`, keyword: "false schema" }];
}
