/** From a schema as it was given to a function that checks values, or an error that says what is wrong and where. */
import { messageOf } from "../base/errors.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { type ErrorObject, MissingRefError, type ValidateFunction } from "../deps/ajv.ts";
import { copyJson } from "./copy.ts";
import { ACCEPTED_DIALECTS, compileWith, type Draft, draftOf, metaValidator } from "./drafts.ts";
import { SchemaError } from "./error.ts";
import { type SchemaIssue, toIssues } from "./issues.ts";
import { formatPath, type PathSegment } from "./paths.ts";
import { pathOf, type SubSchema, subschemas } from "./walk.ts";

/** Checks a value that is called `label` in paths; empty when it fits. Throws a RangeError when the stack ends. */
export type SchemaCheck = (value: unknown, label: string) => readonly SchemaIssue[];

// A fault is searched by compiling the parts alone, which takes time in the square of their number.
const SEARCHED_PARTS = 500;

/**
 * Compiles a copy of an object schema.
 *
 * @param label What the schema is called in the paths of errors.
 * @throws {SchemaError} When it is invalid.
 */
export function compileCopy(given: object, label: string): SchemaCheck {
  const copy = copyJson(given, label) as JsonObject;
  const named = namedDraft(copy, label);
  const parts = subschemas(copy);
  for (const part of parts) makeAcceptable(part.schema);
  try {
    const draft = checkedDraft(copy, named, parts, label);
    return checkWith(compile(draft, copy, parts, label));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SchemaError(label, `${label} is nested too deeply`, { cause: error });
  }
}

function checkWith(validate: ValidateFunction): SchemaCheck {
  return (value, label) => {
    const errors = errorsOf(validate, value);
    return errors.length === 0 ? [] : toIssues(errors, value, label);
  };
}

function errorsOf(validate: ValidateFunction, value: unknown): readonly ErrorObject[] {
  try {
    return validate(value) ? [] : validate.errors ?? [];
  } finally {
    forgetErrors(validate);
  }
}

// Ajv leaves the errors, and with them the value, at the functions, which live as long as the schema.
function forgetErrors(validate: ValidateFunction): void {
  validate.errors = null;
  for (const target of Object.values(validate.schemaEnv.refs)) {
    if (typeof target === "object" && typeof target.validate === "function") target.validate.errors = null;
  }
}

/** The draft that `$schema` names. Ajv knows only one spelling of each, and is never asked. */
function namedDraft(copy: JsonObject, label: string): Draft | undefined {
  const { $schema: dialect } = copy;
  if (dialect === undefined) return undefined;
  const draft = typeof dialect === "string" ? draftOf(dialect) : undefined;
  if (draft === undefined) {
    const path = formatPath(label, ["$schema"]);
    throw new SchemaError(
      path,
      `${path} names an unknown dialect ${JSON.stringify(dialect)} (accepted: ${ACCEPTED_DIALECTS.join(", ")})`,
    );
  }
  return draft;
}

/** Changes what JSON Schema allows but Ajv reads in its own way. */
function makeAcceptable(schema: SubSchema["schema"]): void {
  // Makes the validator return a promise.
  delete schema.$async;
  // A word of OpenAPI. Ajv throws when `type` does not stand beside it.
  if (schema.type === undefined) delete schema.nullable;
  // Ajv leaves `__proto__` out of `properties`; a pattern's schema is applied to every own key.
  const { properties, patternProperties } = schema;
  if (isJsonObject(properties) && Object.hasOwn(properties, "__proto__")) {
    const patterns = isJsonObject(patternProperties) ? patternProperties : {};
    schema.patternProperties = { ...patterns, "^(?:__proto__)$": properties["__proto__"]! };
  }
}

/** The draft under which the schema is valid. */
function checkedDraft(copy: JsonObject, named: Draft | undefined, parts: readonly SubSchema[], label: string): Draft {
  const draft = named ?? "2020-12";
  let faults = metaIssues(draft, copy, label);
  if (faults.length === 0) return draft;
  if (named === undefined) {
    // Schemas older than 2020-12 often come without `$schema`. What only that draft forbids is no fault then; all else
    // is, also where draft-07 would not look (`$defs`).
    const older = new Set(parts.flatMap((part) => olderForms(part).map((path) => formatPath(label, path))));
    if (older.size > 0) {
      faults = faults.filter((issue) => !older.has(issue.path));
      const known = new Set(faults.map((issue) => issue.message));
      faults = [...faults, ...metaIssues("draft-07", copy, label).filter((issue) => !known.has(issue.message))];
      if (faults.length === 0) return "draft-07";
    }
  }
  throw new SchemaError(faults[0]!.path, faults.map(faultText).join("; "));
}

/** What the meta-schema says about `type` is true and hard to read: a name, or a list of names. */
function faultText({ path, message }: SchemaIssue): string {
  return path.endsWith(".type") ? `${path} must be one of ${TYPE_NAMES}, or a list of them` : message;
}

const TYPE_NAMES = "array, boolean, integer, null, number, object, string";

/** Where a part is written as draft-07 allows and 2020-12 does not: tuples in `items`, anchors in `$id`. */
function olderForms(part: SubSchema): PathSegment[][] {
  const { items, $id } = part.schema;
  const forms: PathSegment[][] = [];
  if (Array.isArray(items)) forms.push(pathOf(part, "items"));
  if (typeof $id === "string" && $id.startsWith("#")) forms.push(pathOf(part, "$id"));
  return forms;
}

function metaIssues(draft: Draft, copy: JsonObject, label: string): readonly SchemaIssue[] {
  return toIssues(errorsOf(metaValidator(draft), copy), copy, label);
}

function compile(draft: Draft, copy: JsonObject, parts: readonly SubSchema[], label: string): ValidateFunction {
  try {
    return compileWith(draft, copy);
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw error instanceof MissingRefError
      ? missingReference(error, parts, label)
      : faultyPart(error, draft, parts, label);
  }
}

function missingReference(error: MissingRefError, parts: readonly SubSchema[], label: string): SchemaError {
  const part = parts.find(({ schema }) =>
    typeof schema.$ref === "string" && error.message.startsWith(`can't resolve reference ${schema.$ref} from id`)
  );
  if (part === undefined) {
    return new SchemaError(label, `${label} has a reference that leads nowhere: ${error.message}`);
  }
  const path = formatPath(label, pathOf(part, "$ref"));
  const reference = String(part.schema.$ref);
  const message = reference.startsWith("#")
    ? `leads nowhere: there is no ${reference} in the schema`
    : `leads to another document, ${reference}; a schema can refer only to its own parts (#/$defs/…)`;
  return new SchemaError(path, `${path} ${message}`, { cause: error });
}

/** Ajv does not say where the fault is. It is in the innermost part that does not compile by itself. */
function faultyPart(error: unknown, draft: Draft, parts: readonly SubSchema[], label: string): SchemaError {
  for (const part of parts.length > SEARCHED_PARTS ? [] : [...parts].reverse()) {
    try {
      compileWith(draft, part.schema);
    } catch (fault) {
      if (fault instanceof MissingRefError || fault instanceof RangeError) continue;
      const { pattern } = part.schema;
      const isPattern = fault instanceof SyntaxError && typeof pattern === "string" &&
        fault.message.includes(`/${pattern}/`);
      const path = formatPath(label, isPattern ? pathOf(part, "pattern") : pathOf(part));
      return new SchemaError(path, `${path} cannot be used: ${messageOf(fault)}`, { cause: fault });
    }
  }
  return new SchemaError(label, `${label} cannot be used: ${messageOf(error)}`, { cause: error });
}
