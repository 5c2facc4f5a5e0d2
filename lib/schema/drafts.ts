/**
 * The drafts of JSON Schema that are accepted, and one shared Ajv for each.
 *
 * A fresh Ajv costs about 6 ms, a compile in a shared one 0.3 ms. But an Ajv keeps every schema it has compiled (its
 * cache, and the scope that its generated code refers to, which nothing can clear), so after some schemas a new one
 * takes its place: the old one goes when the validators made by it do.
 */
import { Ajv, Ajv2019, Ajv2020, fullFormats, type ValidateFunction } from "../deps/ajv.ts";
import type { JsonSchema } from "./schema.ts";
import { traceUnions } from "./unions.ts";

/** A draft of JSON Schema; draft-06 is read as draft-07. */
export type Draft = "2020-12" | "2019-09" | "draft-07";

/** The values of `$schema` that are accepted, without a trailing `#`; `http` and `https` mean the same. */
const DIALECTS: Readonly<Record<string, Draft>> = {
  "https://json-schema.org/draft/2020-12/schema": "2020-12",
  "https://json-schema.org/draft/2019-09/schema": "2019-09",
  "http://json-schema.org/draft-07/schema": "draft-07",
  "http://json-schema.org/draft-06/schema": "draft-07",
};

/** What `$schema` may say, for messages. */
export const ACCEPTED_DIALECTS: readonly string[] = Object.keys(DIALECTS);

/** The draft that a `$schema` names; undefined when it is none of the accepted ones. */
export function draftOf(dialect: string): Draft | undefined {
  const plain = dialect.replace(/^https:/, "http:").replace(/#$/, "");
  const name = ACCEPTED_DIALECTS.find((accepted) => accepted.replace(/^https:/, "http:") === plain);
  return name === undefined ? undefined : DIALECTS[name];
}

/** How many schemas one Ajv compiles before another takes its place. */
const SCHEMAS_PER_INSTANCE = 200;

/** A shared Ajv, how much it has compiled, and the names that were in it before any schema was. */
interface Shared {
  readonly ajv: Ajv | Ajv2019 | Ajv2020;
  readonly ownNames: ReadonlySet<string>;
  compiled: number;
}

const shared = new Map<Draft, Shared>();

/** Checks a schema against its draft's own schema: the faults are left in the function's `errors`. */
export function metaValidator(draft: Draft): ValidateFunction {
  const { ajv } = sharedAjv(draft);
  return ajv.getSchema(META_SCHEMAS[draft])!;
}

/**
 * Compiles a schema that has passed `metaValidator`. The schema must be a private copy, because the validator goes
 * on reading it.
 *
 * @throws What Ajv throws: `MissingRefError`, or an Error or SyntaxError without a place.
 */
export function compileWith(draft: Draft, schema: JsonSchema): ValidateFunction {
  const entry = sharedAjv(draft);
  try {
    entry.compiled++;
    return entry.ajv.compile(schema);
  } catch (error) {
    // It has the name of a meta-schema, being a copy of one: it gets an Ajv that has none.
    if (error instanceof Error && TAKEN.test(error.message)) return newAjv(draft, false).compile(schema);
    // Thrown in the middle of Ajv's own bookkeeping.
    if (error instanceof RangeError) shared.delete(draft);
    throw error;
  } finally {
    // Names of one schema (`$id`, `$anchor`) must neither reach the next one nor forbid it to use them again. What has
    // been compiled needs them no more.
    for (const name of Object.keys(entry.ajv.refs)) if (!entry.ownNames.has(name)) delete entry.ajv.refs[name];
  }
}

const TAKEN = /already exists|resolves to more than one schema/;

const META_SCHEMAS: Readonly<Record<Draft, string>> = {
  "2020-12": "https://json-schema.org/draft/2020-12/schema",
  "2019-09": "https://json-schema.org/draft/2019-09/schema",
  "draft-07": "http://json-schema.org/draft-07/schema",
};

function sharedAjv(draft: Draft): Shared {
  let entry = shared.get(draft);
  if (entry === undefined || entry.compiled >= SCHEMAS_PER_INSTANCE) {
    const ajv = newAjv(draft, true);
    ajv.getSchema(META_SCHEMAS[draft]);
    entry = { ajv, ownNames: new Set(Object.keys(ajv.refs)), compiled: 0 };
    shared.set(draft, entry);
  }
  return entry;
}

function newAjv(draft: Draft, meta: boolean): Ajv | Ajv2019 | Ajv2020 {
  const Class = draft === "2020-12" ? Ajv2020 : draft === "2019-09" ? Ajv2019 : Ajv;
  const ajv = new Class({
    meta,
    strict: false,
    // `strict: false` would let NaN and Infinity pass for numbers.
    strictNumbers: true,
    // Else `required: ["constructor"]` is met by every object.
    ownProperties: true,
    allErrors: true,
    // The issues name the value found and the properties known.
    verbose: true,
    validateFormats: true,
    formats: fullFormats,
    // `metaValidator` has done it.
    validateSchema: false,
    // 19.99 is a multiple of 0.01, which binary fractions deny.
    multipleOfPrecision: 9,
    unicodeRegExp: false,
    code: { regExp: Object.assign(lenientRegExp, { code: "new RegExp" }) },
    logger: false,
  });
  // Draft-04's name of `$id`. Ajv refuses the word; in the later drafts it means nothing.
  ajv.removeKeyword("id");
  traceUnions(ajv);
  return ajv;
}

/**
 * Unicode mode when the pattern can be read so (`\p{L}` needs it), else without: `[\w-.]` and `\-` are errors in
 * Unicode mode, and common in the schemas of servers.
 */
function lenientRegExp(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return new RegExp(pattern);
  }
}
