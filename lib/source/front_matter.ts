/**
 * Front matter: a Markdown file that starts with YAML between two lines `---`. The framing is exact, because a file that
 * only looks as if it had settings must never run without them: line 1 opens, the next line that is exactly `---` closes,
 * and whatever stands behind that line belongs to the body, more `---` too. A byte order mark, CRLF and a missing line
 * ending at the end are nobody's mistake and change nothing.
 */
import type { Diagnostic } from "../base/diagnostic.ts";
import type { SourceNode } from "./node.ts";
import type { TextPlace } from "./text_place.ts";
import { readYaml } from "./yaml.ts";

/** A file with front matter, taken apart. */
export interface FrontMatter {
  /** The settings; undefined when there are none, or when they cannot be read. */
  readonly root: SourceNode | undefined;
  /** The text below, without white space at its ends, and with LF line endings. */
  readonly body: string;
  /** Where the body starts. */
  readonly bodyPlace: TextPlace;
  /** Everything that is wrong, in file order; places are those of the whole file. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Where the YAML and the body of a file are. */
export interface FrontMatterParts {
  /** The lines between the two `---`, with LF line endings. */
  readonly yaml: string;
  readonly body: string;
  readonly bodyPlace: TextPlace;
}

/**
 * Finds the two parts, or says what is wrong with the framing.
 *
 * @example
 * ```ts
 * import { splitFrontMatter } from "./front_matter.ts";
 * const parts = splitFrontMatter("---\nname: a\n---\nBe brief.\n", "a.md");
 * console.assert("body" in parts && parts.body === "Be brief.");
 * ```
 */
export function splitFrontMatter(source: string, file: string): FrontMatterParts | Diagnostic {
  const text = (source.startsWith("\ufeff") ? source.slice(1) : source).replaceAll("\r\n", "\n");
  const lines = text.split("\n");
  if (lines[0] !== "---") return unopened(lines, file);
  const end = lines.indexOf("---", 1);
  if (end < 0) return unclosed(lines, file);
  const rest = lines.slice(end + 1);
  const first = rest.findIndex((line) => line.trim() !== "");
  const indent = first < 0 ? 0 : rest[first]!.length - rest[first]!.trimStart().length;
  const start = { line: end + 2 + Math.max(first, 0), column: 1 };
  return {
    yaml: lines.slice(1, end).join("\n"),
    body: rest.join("\n").trim(),
    // Of an indented first line the text's columns are not those of the lines below it.
    bodyPlace: { file, ...start, content: indent === 0 ? start : null },
  };
}

/** Takes a file apart and reads its settings. */
export function readFrontMatter(source: string, file: string): FrontMatter {
  const parts = splitFrontMatter(source, file);
  if ("severity" in parts) return { root: undefined, body: "", bodyPlace: { file }, diagnostics: [parts] };
  return { ...parts, ...readFrontMatterYaml(parts.yaml, file) };
}

/** Reads the YAML of a file's front matter; places are those of the file. */
export function readFrontMatterYaml(yaml: string, file: string): Pick<FrontMatter, "root" | "diagnostics"> {
  // An empty line stands in for the opening `---`, so that every place is the file's.
  return readYaml(`\n${yaml}`, file);
}

function unopened(lines: readonly string[], file: string): Diagnostic {
  const found = lines.findIndex((line) => line.trim() !== "");
  const near = found >= 0 && lines[found]!.trim() === "---";
  const hint = !near
    ? "write the settings between two lines `---`; there may be none between them"
    : found > 0
    ? "remove the empty lines before it"
    : "remove the spaces around it";
  return fault(file, near ? found + 1 : 1, "the first line must be exactly `---`, which opens the front matter", hint);
}

function unclosed(lines: readonly string[], file: string): Diagnostic {
  const near = lines.findIndex((line, index) => index > 0 && /^(\s*---+\s*|\.\.\.)$/.test(line));
  const hint = near < 0
    ? "close it with a line that is exactly `---`"
    : `line ${near + 1} is ${JSON.stringify(lines[near])}; write it as \`---\``;
  return fault(file, 1, "the front matter is not closed: no line after it is exactly `---`", hint);
}

function fault(file: string, line: number, message: string, hint: string): Diagnostic {
  return { id: "front-matter", severity: "error", place: { file, line, column: 1 }, message, hint };
}
