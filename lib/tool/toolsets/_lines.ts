/** Lines of answers. */

/** The lines of a text: split at LF and CRLF, without the empty one behind the last line end. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** A path as one line: quoted like JSON when it holds characters that would break or forge lines. */
export function pathLine(path: string): string {
  // deno-lint-ignore no-control-regex
  return /[\x00-\x1f\x7f\u2028\u2029]/.test(path) ? JSON.stringify(path) : path;
}

/** The line that says how much is not shown. */
export function leftOut(count: number, one: string, many: string): string {
  return `[${count} more ${count === 1 ? one : many} left out]`;
}
