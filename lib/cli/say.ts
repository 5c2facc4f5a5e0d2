/** Messages on standard error: each line with its prefix, and nothing in it that could steer a terminal. */
import type { PRODUCT_NAME } from "../base/product.ts";
import { visible } from "../base/text.ts";
import { createPaint, wantsColor } from "../base/color.ts";
import type { Io } from "./io.ts";

/** What a line is: an error, a warning, or something good to know. */
export type MessageKind = typeof PRODUCT_NAME | "warning" | "note";

/** Writes a message; a text of several lines gets the prefix once. */
export function say(io: Pick<Io, "stderr" | "environment">, kind: MessageKind, message: string): void {
  const paint = createPaint(wantsColor(io.stderr.isTerminal, io.environment));
  const prefix = kind === "note" ? paint.dim(`${kind}:`) : (kind === "warning" ? paint.yellow : paint.red)(`${kind}:`);
  // A message may quote a model, its server or a file.
  const lines = message.split(/\r?\n/).map(visible);
  io.stderr.write(`${prefix} ${lines.join("\n")}\n`);
}

/** A text of several lines as one. */
export function oneLine(text: string): string {
  return visible(text.trim().replaceAll(/\s*\n\s*/g, " "));
}

/** Says what is about to run. */
export function banner(io: Pick<Io, "stderr">, text: string): void {
  io.stderr.write(`==> ${oneLine(text)}\n`);
}
