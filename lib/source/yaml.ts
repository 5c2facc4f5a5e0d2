/**
 * Reading YAML 1.2 (core schema) with the place of every value.
 *
 * The package's own conversion to JavaScript values is never used: it prints warnings, loses digits, expands alias
 * bombs and throws without a place. What JSON cannot say is a fault here.
 */
import type { Diagnostic } from "../base/diagnostic.ts";
import { withVariables } from "../base/environment.ts";
import { messageOf } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { isScalar, parseDocument, YAML_ENVIRONMENT, type YamlNode } from "../deps/yaml.ts";
import type { SourceNode } from "./node.ts";
import { syntaxAdvice, TEMPLATE_HINT, templateHint } from "./_yaml_hints.ts";
import { Lines } from "./_yaml_lines.ts";
import { YamlWalk } from "./_yaml_walk.ts";

/** What a YAML text says. */
export interface YamlResult {
  /**
   * The document's value. Undefined for an empty or comments-only document, and when faults make it unusable. Given
   * beside faults (duplicate keys, numbers that JSON cannot say), it serves only to look for further faults.
   */
  readonly root: SourceNode | undefined;
  /** Every fault of the file, in file order; all are errors. At most 100. */
  readonly diagnostics: Diagnostic[];
}

/**
 * Reads a YAML text. `file` is the name shown in diagnostics. A leading byte order mark and CRLF are fine. Throws for
 * no text.
 *
 * The ids of the faults: `yaml-syntax`, `yaml-documents`, `yaml-tag`, `yaml-key`, `yaml-alias`, `yaml-merge`,
 * `yaml-integer`, `yaml-number`, `yaml-depth`, `duplicate-key`.
 *
 * @example
 * ```ts
 * import { readYaml } from "./yaml.ts";
 * const { root, diagnostics } = readYaml("model: small\n", "lait.config.yml");
 * console.assert(root?.kind === "map" && diagnostics.length === 0);
 * ```
 */
export function readYaml(text: string, file: string): YamlResult {
  const source = text.startsWith("\ufeff") ? text.slice(1) : text;
  const lines = new Lines(source);
  const fault = (id: string, offset: number, message: string, hint?: string): Diagnostic => ({
    id,
    severity: "error",
    place: { file, ...lines.position(offset) },
    message,
    ...(hint === undefined ? {} : { hint }),
  });
  try {
    const { contents, problems } = parse(source);
    if (problems.some((problem) => problem.code === "RESOURCE_EXHAUSTION")) {
      const deep = problems.find((problem) => problem.code === "RESOURCE_EXHAUSTION")!;
      return unusable(fault("yaml-depth", deep.offset, `values are nested more than ${LIMITS.yamlDepth} levels deep`));
    }
    const syntax = problems.slice(0, LIMITS.faultsShown).map(({ code, offset, message }) => {
      const { line } = lines.position(offset);
      if (code === "MULTIPLE_DOCS") {
        return fault("yaml-documents", offset, "the file holds more than one YAML document", "remove the `---` line");
      }
      if (code === "TAG_RESOLVE_FAILED") return fault("yaml-tag", offset, tagMessage(message));
      const advice = syntaxAdvice(code, message);
      return fault("yaml-syntax", offset, advice.message, templateHint(lines.line(line)) ?? advice.hint);
    });
    const walk = new YamlWalk(source, file, lines, fault);
    const root = isNothing(contents) ? undefined : walk.read(contents);
    // What was read past a syntax fault is a guess; odd keys in it are seldom the writer's.
    const guessed = syntax.some((found) => found.id === "yaml-syntax");
    const walked = walk.faults.filter((found) =>
      !guessed || found.id !== "yaml-key" || found.hint?.startsWith(TEMPLATE_HINT)
    );
    return {
      root: syntax.length === 0 && walk.usable ? root : undefined,
      diagnostics: inOrder([...syntax, ...walked]),
    };
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return unusable(fault("yaml-syntax", 0, syntaxAdvice("", messageOf(error)).message));
  }
}

function unusable(diagnostic: Diagnostic): YamlResult {
  return { root: undefined, diagnostics: [diagnostic] };
}

interface Problem {
  readonly code: string;
  readonly offset: number;
  readonly message: string;
}

/** The package's tree, and all that it finds wrong, its warnings too. */
function parse(source: string): { contents: YamlNode | null; problems: Problem[] } {
  const document = quietly(() =>
    parseDocument(source, {
      version: "1.2",
      schema: "core",
      merge: false,
      resolveKnownTags: false,
      intAsBigInt: true, // else a large integer has lost its digits before it can be refused
      uniqueKeys: false, // the package compares every key with every other one; the walk checks them
      prettyErrors: false,
      logLevel: "error",
    })
  );
  const problems = [...document.errors, ...document.warnings]
    .map(({ code, pos, message }) => ({ code, offset: pos[0], message }))
    .sort((a, b) => a.offset - b.offset);
  return { contents: document.contents, problems };
}

/** Does the work with the variables hidden that make the package print what it reads, to standard output. */
function quietly<T>(work: () => T): T {
  return withVariables(Object.fromEntries(YAML_ENVIRONMENT.map((name) => [name, undefined])), work);
}

/** Whether a document holds nothing but comments: not even a written `null`. */
function isNothing(contents: YamlNode | null): contents is null {
  if (contents === null) return true;
  return isScalar(contents) && contents.value === null && contents.source === "" && contents.tag === undefined;
}

/** Says which tag cannot be used. The package writes the core ones out. */
function tagMessage(message: string): string {
  const tag = /^Unresolved tag: (.*)$/s.exec(message)?.[1];
  if (tag === undefined) return syntaxAdvice("", message).message;
  const core = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/.exec(tag)?.[1];
  if (core !== undefined) return `the value does not fit its tag \`!!${core}\``;
  return `unknown tag \`${tag.replace("tag:yaml.org,2002:", "!!")}\`: only YAML's core tags may be used`;
}

/**
 * In file order, one for each place. Of a line on which a template lacks its quotes, only the fault that says so; and
 * no syntax faults behind such a line, because they come from reading its braces as maps.
 */
function inOrder(faults: Diagnostic[]): Diagnostic[] {
  const sorted = faults.toSorted((a, b) => line(a) - line(b) || (a.place.column ?? 0) - (b.place.column ?? 0));
  const unquoted = new Map<number, Diagnostic>();
  for (const fault of sorted) {
    if (!fault.hint?.startsWith(TEMPLATE_HINT)) continue;
    if (fault.id === "yaml-key" || !unquoted.has(line(fault))) unquoted.set(line(fault), fault);
  }
  const places = new Set<string>();
  let derailed = false;
  const kept: Diagnostic[] = [];
  for (const fault of sorted) {
    const only = unquoted.get(line(fault));
    derailed ||= only !== undefined && fault.id === "yaml-syntax";
    const place = `${line(fault)}:${fault.place.column}`;
    if (only === undefined ? derailed && fault.id === "yaml-syntax" : only !== fault) continue;
    if (places.has(place)) continue;
    places.add(place);
    kept.push(fault);
  }
  return kept.slice(0, LIMITS.faultsShown);
}

function line(fault: Diagnostic): number {
  return fault.place.line ?? 0;
}
