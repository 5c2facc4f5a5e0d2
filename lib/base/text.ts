/** Text: decoding, cutting, and showing what could mislead. */

/** Pieces of bytes as one. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.length;
  }
  return joined;
}

/** Decodes bytes that must be UTF-8; undefined when they are not. A byte order mark is kept. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Decodes bytes as UTF-8 and replaces what is not. */
export function decodeUtf8Lossy(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** Removes exactly one line ending from the end of a text: `\r\n` or `\n`. */
export function withoutLineEnding(text: string): string {
  if (text.endsWith("\r\n")) return text.slice(0, -2);
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}

/** The first `length` UTF-16 code units, never half of a surrogate pair. */
export function headOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** The last `length` UTF-16 code units, never half of a surrogate pair. */
export function tailOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const start = text.length - length;
  const first = text.charCodeAt(start);
  return text.slice(first >= 0xdc00 && first <= 0xdfff ? start + 1 : start);
}

/** The text cut to `length` code units with `…` behind it when something was cut. */
export function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${headOf(text, length)}…`;
}

// Control characters, and the invisible and direction-changing ones that could make a shown command look like another.
// deno-lint-ignore no-control-regex
const DECEPTIVE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g;

/** The text with every control, invisible or direction-changing character written as `\u{…}`; for a terminal. */
export function visible(text: string): string {
  return text.replace(DECEPTIVE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}
