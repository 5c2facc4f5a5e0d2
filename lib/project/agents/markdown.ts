/**
 * Reading a Markdown file with front matter, lait's own or one of a collection that was written for other programs: of
 * those, settings that lait does not have are left out and told, and a text that YAML would want quoted is taken as it is.
 */
import type { Diagnostic } from "../../base/diagnostic.ts";
import { DiagnosticError } from "../../base/errors.ts";
import { type FrontMatter, readFrontMatterYaml, splitFrontMatter } from "../../source/front_matter.ts";
import type { MapEntry, SourceNode } from "../../source/node.ts";

/** Says which settings of a file are another program's. */
export type ForeignRule = (entry: MapEntry) => boolean;

/** A file, taken apart. */
export interface MarkdownFile extends FrontMatter {
  /** What was done with a file that was written for other programs, one line; undefined when nothing was. */
  readonly remark: string | undefined;
}

/**
 * Takes a file apart.
 *
 * @throws DiagnosticError when its framing is wrong
 */
export function readMarkdown(text: string, shown: string, foreign?: ForeignRule): MarkdownFile {
  const parts = splitFrontMatter(text, shown);
  if ("severity" in parts) throw new DiagnosticError([parts]);
  const read = readFrontMatterYaml(parts.yaml, shown);
  if (foreign === undefined) return { ...parts, ...read, remark: undefined };
  const { root, diagnostics, quoted } = read.root === undefined ? withQuotes(parts.yaml, shown, read) : {
    ...read,
    quoted: [],
  };
  if (root?.kind !== "map") return { ...parts, root, diagnostics, remark: undefined };
  const ignored = root.entries.filter(foreign).map(({ key }) => key);
  return {
    ...parts,
    root: { ...root, entries: root.entries.filter(({ key }) => !ignored.includes(key)) },
    diagnostics,
    remark: remarkOf(shown, ignored, quoted),
  };
}

function remarkOf(shown: string, ignored: readonly string[], quoted: readonly string[]): string | undefined {
  const said = [
    ...ignored.length === 0
      ? []
      : [`${listed(ignored)} belong${one(ignored)} to another program and ${are(ignored)} ignored`],
    ...quoted.length === 0 ? [] : [`${listed(quoted)} should be quoted and ${are(quoted)} taken as text`],
  ];
  return said.length === 0 ? undefined : `${shown}: ${said.join("; ")}`;
}

const one = (names: readonly string[]) => names.length === 1 ? "s" : "";
const are = (names: readonly string[]) => names.length === 1 ? "is" : "are";

/** `a`, `b` and `c`. */
function listed(names: readonly string[]): string {
  const marked = names.map((name) => `\`${name}\``);
  return marked.length < 2 ? marked.join("") : `${marked.slice(0, -1).join(", ")} and ${marked.at(-1)}`;
}

interface Quoted {
  readonly root: SourceNode | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly quoted: readonly string[];
}

/** `key: text` on the first level, the text being a plain one. */
const PLAIN = /^([A-Za-z][\w-]*): +([^\s"'[\]{}|>&*!%@`#?,-].*?)\s*$/;

/**
 * Another try, with quotes around the plain texts that hold what YAML reads as a key or a comment: many programs read
 * such files line by line, and so their writers never learn of it.
 */
function withQuotes(yaml: string, shown: string, first: Pick<FrontMatter, "root" | "diagnostics">): Quoted {
  const quoted: string[] = [];
  const lines = yaml.split("\n").map((line) => {
    const [, key, text] = PLAIN.exec(line) ?? [];
    if (key === undefined || text === undefined || !/: | #|:$/.test(text)) return line;
    quoted.push(key);
    return `${key}: ${JSON.stringify(text)}`;
  });
  const again = quoted.length === 0 ? undefined : readFrontMatterYaml(lines.join("\n"), shown);
  if (again?.root === undefined || again.diagnostics.length > 0) return { ...first, quoted: [] };
  return { ...again, quoted };
}
