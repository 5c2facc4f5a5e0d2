/** The outputs of `lait jq`. */
import type { JsonValue } from "../base/json.ts";
import { sortedKeys } from "../jq/values/compare.ts";
import { isArray, isObject } from "../jq/values/kinds.ts";
import { serialize } from "../jq/values/text.ts";
import { setOwn } from "../base/json.ts";
import type { ResultStream } from "./io.ts";
import type { JqOptions } from "./jq_options.ts";

/** Characters that are kept back, so that many small outputs are written together. */
const KEPT = 64 * 1024;

/** Milliseconds after which an output is written, however few there are. */
const PATIENCE = 20;

/** Writes outputs together where there are many, and soon where there are few. */
export class Outputs {
  readonly #stream: ResultStream;
  #text = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Writes to this. */
  constructor(stream: ResultStream) {
    this.#stream = stream;
  }

  /** Takes an output's text; the promise is there when the reader is behind. */
  add(text: string): Promise<void> | undefined {
    this.#text += text;
    if (this.#stream.isTerminal || this.#text.length > KEPT) {
      this.write();
      return this.#stream.flush();
    }
    this.#timer ??= setTimeout(() => this.write(), PATIENCE);
    return undefined;
  }

  /** Writes what was kept back. */
  write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#text;
    this.#text = "";
    this.#stream.write(text);
  }
}

/** An output as text, with what stands behind it. */
export function outputText(output: JsonValue, options: JqOptions): string {
  const { asciiOutput, compactOutput, joinOutput, rawOutput, rawOutput0, sortKeys } = options;
  const isRaw = rawOutput === true || joinOutput === true || rawOutput0 === true;
  const end = rawOutput0 === true ? "\0" : joinOutput === true ? "" : "\n";
  if (isRaw && typeof output === "string" && asciiOutput !== true) return output + end;
  const value = sortKeys === true ? withSortedKeys(output) : output;
  const indent = options.tab === true ? "\t" : options.indent ?? (compactOutput === true ? 0 : 2);
  const text = serialize(value, { indent: compactOutput === true ? 0 : indent });
  return (asciiOutput === true ? ascii(text) : text) + end;
}

function ascii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function withSortedKeys(value: JsonValue): JsonValue {
  if (isArray(value)) return value.map(withSortedKeys);
  if (!isObject(value)) return value;
  const sorted = {};
  for (const key of sortedKeys(value)) setOwn(sorted, key, withSortedKeys(value[key]!));
  return sorted;
}
