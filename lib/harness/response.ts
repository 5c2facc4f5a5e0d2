/** Typed responses: an answer in a tag, checked, and asked for again when it does not fit. */
import { ConfigurationError, messageOf, ResponseError } from "../base/errors.ts";
import { checkInteger, checkKeys } from "../base/options.ts";
import { isStandardValidator, type StandardValidator } from "../schema/standard.ts";

/** How a typed answer is read. */
export interface HarnessResponse<T = unknown> {
  /** Marks a response. */
  readonly kind: "response";
  /** The tag that the brief asks for. */
  readonly tag: string;
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
  /** A Standard Schema, or a function that gives the value or throws. */
  readonly schema: StandardValidator<T> | ((value: unknown) => T | Promise<T>);
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
 * const verdict = defineJsonResponse({ tag: "verdict", schema: (value) => value as { ok: boolean } });
 * console.assert((await verdict.read('<verdict>{"ok":true}</verdict>')).ok);
 * ```
 */
export function defineJsonResponse<T>(options: JsonResponseOptions<T>): HarnessResponse<T> {
  checkKeys("defineJsonResponse", options, ["tag", "schema", "repairs"]);
  const { tag, schema, repairs = 0 } = options;
  checkTag("defineJsonResponse", tag, repairs);
  if (typeof schema !== "function" && !isStandardValidator(schema)) {
    throw new ConfigurationError("defineJsonResponse: schema must be a Standard Schema or a function");
  }
  return Object.freeze({
    kind: "response" as const,
    tag,
    repairs,
    read: async (text: string) => {
      const raw = inTag(text, tag);
      const fail = (what: string, cause?: unknown) => failure(tag, what, raw, cause);
      let value: unknown;
      try {
        value = JSON.parse(withoutFence(raw));
      } catch (error) {
        throw fail(`is not JSON: ${messageOf(error)}`, error);
      }
      if (isStandardValidator(schema)) {
        const result = await schema["~standard"].validate(value);
        if (result.issues === undefined) return result.value as T;
        throw fail(`does not fit: ${result.issues.map(({ message }) => message).join("; ")}`);
      }
      try {
        return await (schema as (value: unknown) => T | Promise<T>)(value);
      } catch (error) {
        throw fail(`does not fit: ${messageOf(error)}`, error);
      }
    },
  });
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
export function repairPrompt(error: ResponseError, attemptsLeft: number): string {
  const { tag, raw } = error.details;
  const before = raw === undefined ? "" : `\n\nIt held:\n${String(raw)}`;
  return `${error.message}.${before}\n\nAnswer with nothing but the corrected <${tag}>…</${tag}>. ` +
    `Attempts left after this one: ${attemptsLeft}.`;
}
