/** Typed responses: an answer in a tag, checked, and asked for again when it does not fit. */
import { ConfigurationError, messageOf, ResponseError } from "../base/errors.ts";
import { checkInteger, checkKeys } from "../base/options.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { compileSchema } from "../schema/schema.ts";
import {
  isStandardSchema,
  isStandardValidator,
  type StandardValidator,
  writtenAsJsonSchema,
} from "../schema/standard.ts";

/** How a typed answer is read. */
export interface HarnessResponse<T = unknown> {
  /** Marks a response. */
  readonly kind: "response";
  /** The tag that holds the answer. */
  readonly tag: string;
  /** What the model is told about the answer's form, behind the prompt. */
  readonly instructions: string;
  /** How often an answer that does not fit is asked for again. */
  readonly repairs: number;
  /**
   * The value of an answer.
   *
   * @throws ResponseError saying what is missing or does not fit; `details.raw` is what the tag held
   */
  read(text: string): Promise<T>;
}

/** Options of {@link defineJsonResponse}. */
export interface JsonResponseOptions<T> {
  /** A letter, then letters, digits, `_` or `-`. */
  readonly tag: string;
  /**
   * What the value must be: a Standard Schema, a JSON Schema, or a function that gives the value or throws. A function,
   * or a Standard Schema that cannot write itself as JSON Schema, needs `jsonSchema` too.
   */
  readonly schema: StandardValidator<T> | ((value: unknown) => T | Promise<T>) | JsonObject;
  /** The JSON Schema that the model is shown. Default: what `schema` says. */
  readonly jsonSchema?: JsonObject;
  /** How often an answer that does not fit is asked for again. Default: 0. */
  readonly repairs?: number;
}

/**
 * An answer that holds JSON in `<tag>…</tag>`; the last one counts, and may be in a code fence.
 *
 * @throws ConfigurationError for a wrong option
 *
 * @example
 * ```ts
 * import { defineJsonResponse } from "./response.ts";
 * const verdict = defineJsonResponse<{ ok: boolean }>({
 *   tag: "verdict",
 *   schema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
 * });
 * console.assert((await verdict.read('<verdict>{"ok":true}</verdict>')).ok);
 * ```
 */
export function defineJsonResponse<T>(options: JsonResponseOptions<T>): HarnessResponse<T> {
  checkKeys("defineJsonResponse", options, ["tag", "schema", "jsonSchema", "repairs"]);
  const { tag, repairs = 0 } = options;
  checkTag("defineJsonResponse", tag, repairs);
  const shown = options.jsonSchema ?? shownSchema(options.schema);
  const validate = validator(options.schema);
  return Object.freeze({
    kind: "response" as const,
    tag,
    instructions: `End your answer with JSON in <${tag}>…</${tag}>; nothing else in your answer is read. ` +
      `The JSON must fit this JSON Schema:\n${JSON.stringify(shown)}`,
    repairs,
    read: async (text: string) => {
      const raw = inTag(text, tag);
      let value: unknown;
      try {
        value = JSON.parse(withoutFence(raw));
      } catch (error) {
        throw failure(tag, `is not JSON: ${messageOf(error)}`, raw, error);
      }
      try {
        return await validate(value);
      } catch (error) {
        throw failure(tag, `does not fit: ${messageOf(error)}`, raw, error);
      }
    },
  });
}

function shownSchema(schema: unknown): JsonObject {
  if (isStandardSchema(schema)) return writtenAsJsonSchema(schema, "defineJsonResponse: schema");
  if (typeof schema === "function" || isStandardValidator(schema)) {
    throw new ConfigurationError(
      "defineJsonResponse: the model must be shown a JSON Schema, and this schema cannot write itself as one; give " +
        "`jsonSchema` beside it",
    );
  }
  if (isJsonObject(schema)) return schema;
  throw new ConfigurationError("defineJsonResponse: schema must be a Standard Schema, a JSON Schema or a function");
}

/** Gives the value, or throws what is wrong with it. */
function validator<T>(schema: JsonResponseOptions<T>["schema"]): (value: unknown) => T | Promise<T> {
  if (isStandardValidator(schema)) {
    return async (value) => {
      const result = await schema["~standard"].validate(value);
      if (result.issues === undefined) return result.value as T;
      throw new Error(result.issues.map(({ message }) => message).join("; "));
    };
  }
  if (typeof schema === "function") return schema as (value: unknown) => T | Promise<T>;
  const compiled = compileSchema(schema, { name: "value", schemaName: "defineJsonResponse: schema" });
  return (value) => {
    const issues = compiled.explain(value);
    if (issues !== undefined) throw new Error(issues);
    return value as T;
  };
}

/**
 * An answer that is the text in `<tag>…</tag>`.
 *
 * @throws ConfigurationError for a wrong option
 */
export function defineTextResponse(
  options: { readonly tag: string; readonly repairs?: number },
): HarnessResponse<string> {
  checkKeys("defineTextResponse", options, ["tag", "repairs"]);
  const { tag, repairs = 0 } = options;
  checkTag("defineTextResponse", tag, repairs);
  return Object.freeze({
    kind: "response" as const,
    tag,
    instructions: `End your answer with the result in <${tag}>…</${tag}>; nothing else in your answer is read.`,
    repairs,
    read: (text: string) => Promise.resolve().then(() => inTag(text, tag)),
  });
}

function checkTag(what: string, tag: unknown, repairs: unknown): void {
  if (typeof tag !== "string" || !/^[A-Za-z][A-Za-z0-9_-]*$/.test(tag)) {
    throw new ConfigurationError(
      `${what}: tag must be a letter and letters, digits, \`_\` or \`-\` (got ${JSON.stringify(tag)})`,
    );
  }
  checkInteger(`${what}: repairs`, repairs, 0);
}

/** The trimmed text in the last complete pair of tags. */
function inTag(text: string, tag: string): string {
  const end = text.lastIndexOf(`</${tag}>`);
  const start = end < 0 ? -1 : text.lastIndexOf(`<${tag}>`, end);
  if (start < 0) throw failure(tag, `is missing: the answer must hold <${tag}>…</${tag}>`, undefined);
  return text.slice(start + tag.length + 2, end).trim();
}

function failure(tag: string, what: string, raw: string | undefined, cause?: unknown): ResponseError {
  return new ResponseError(`the answer's <${tag}> ${what}`, {
    details: { tag, ...(raw === undefined ? {} : { raw }) },
    ...(cause === undefined ? {} : { cause }),
  });
}

function withoutFence(text: string): string {
  return /^```[A-Za-z]*\s*\n([\s\S]*?)\n?```$/.exec(text)?.[1] ?? text;
}

/** What the model is told about an answer that did not fit. */
export function repairPrompt(response: HarnessResponse, error: ResponseError, attemptsLeft: number): string {
  const { tag, raw } = error.details;
  const before = raw === undefined ? "" : `\n\nIt held:\n${String(raw)}`;
  return `${error.message}.${before}\n\nAnswer with nothing but the corrected <${tag}>…</${tag}>. ` +
    `Attempts left after this one: ${attemptsLeft}.\n\n${response.instructions}`;
}
