/** The walk over a parsed YAML document that makes source nodes and finds what JSON cannot say. */
import type { Diagnostic, Place } from "../base/diagnostic.ts";
import { LIMITS } from "../base/limits.ts";
import { shorten } from "../base/text.ts";
import { isAlias, isMap, isPair, isScalar, isSeq, Scalar, type YamlNode } from "../deps/yaml.ts";
import type { MapEntry, ScalarNode, SourceNode } from "./node.ts";
import type { Position, TextPlace } from "./text_place.ts";
import { templateHint } from "./_yaml_hints.ts";
import type { Lines } from "./_yaml_lines.ts";

const LARGEST_INTEGER = 2n ** 53n;

/** A value that was given a name with `&`. Without a node while it is still being read. */
interface Anchor {
  node: SourceNode | undefined;
  weight: number;
}

/** Makes a diagnostic at an offset of the text. */
export type FaultMaker = (id: string, offset: number, message: string, hint?: string) => Diagnostic;

/** One walk over one document. */
export class YamlWalk {
  /** What was found so far. */
  readonly faults: Diagnostic[] = [];
  /** Whether what was read can be looked at further in spite of the faults. */
  usable = true;

  readonly #text: string;
  readonly #file: string;
  readonly #lines: Lines;
  readonly #fault: FaultMaker;
  readonly #anchors = new Map<string, Anchor>();
  readonly #said = new Set<string>();
  #aliases = 0;
  #weight = 0;
  #expanded = 0;

  /** Prepares a walk over the document that was parsed from `text`. */
  constructor(text: string, file: string, lines: Lines, fault: FaultMaker) {
    this.#text = text;
    this.#file = file;
    this.#lines = lines;
    this.#fault = fault;
  }

  /** Reads a value and all that is below it. */
  read(node: YamlNode, depth = 0): SourceNode {
    const offset = node.range?.[0] ?? 0;
    if (isAlias(node)) return this.#alias(node.source, offset);
    if (depth > LIMITS.yamlDepth) {
      this.#refuseOnce("yaml-depth", offset, `values are nested more than ${LIMITS.yamlDepth} levels deep`);
      return this.#nothing(offset);
    }
    const anchor: Anchor = { node: undefined, weight: 0 };
    // Set before the children are read, so that one that refers to it is seen to refer to itself.
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, anchor);
    if (node.tag === "!") this.#refuse("yaml-tag", offset, "the tag `!` may not be used");
    const before = this.#weight++;
    anchor.node = isScalar(node) ? this.#scalar(node, offset) : this.#collection(node, offset, depth);
    anchor.weight = this.#weight - before;
    return anchor.node;
  }

  #collection(node: YamlNode, offset: number, depth: number): SourceNode {
    if (isSeq<YamlNode>(node)) {
      const items = node.items.map((item) => this.read(item, depth + 1));
      return { kind: "list", items, place: this.#place(offset) };
    }
    if (!isMap<YamlNode, YamlNode | null>(node)) return this.#nothing(offset);
    const lineOf = new Map<string, number>();
    const entries: MapEntry[] = [];
    for (const pair of node.items) {
      if (!isPair(pair)) continue;
      const keyOffset = pair.key.range?.[0] ?? offset;
      const key = this.#key(pair.key, keyOffset, offset);
      // Read in any case: for its faults, and for the anchors that later aliases name.
      const value = pair.value === null ? this.#nothing(keyOffset) : this.read(pair.value, depth + 1);
      if (key === undefined) continue;
      const keyPlace = this.#place(keyOffset);
      const first = lineOf.get(key);
      if (first === undefined) {
        lineOf.set(key, keyPlace.line ?? 1);
        entries.push({ key, keyPlace, value });
      } else {
        const message = `key \`${shorten(key, 60)}\` appears twice in this map (first on line ${first})`;
        this.faults.push(this.#fault("duplicate-key", keyOffset, message));
      }
    }
    return { kind: "map", entries, place: this.#place(offset) };
  }

  /** The text of a key; undefined, with a fault, when it is no text, number or boolean. */
  #key(key: YamlNode, offset: number, mapOffset: number): string | undefined {
    if (isScalar(key)) {
      if (key.anchor !== undefined) this.#anchors.set(key.anchor, { node: this.#scalar(key, offset), weight: 1 });
      if (key.value === "<<" && key.type === Scalar.PLAIN) {
        this.#refuse("yaml-merge", offset, "merge keys (`<<`) are not part of YAML 1.2", "write the keys out");
        return undefined;
      }
      if (typeof key.value === "string") return key.value;
      if (key.value !== null && key.source !== undefined) return key.source;
      const written = key.source === undefined || key.source === "";
      this.#refuse("yaml-key", offset, "a key may not be null", written ? undefined : `quote it: \`"${key.source}"\``);
      return undefined;
    }
    if (isAlias(key)) {
      this.#refuse("yaml-key", offset, "a key may not be an alias", "write the key out");
      return undefined;
    }
    // `{{ input }}` is a map whose key is a map: what the writer sees is where the outer one starts.
    const braces = this.#text.startsWith("{{", mapOffset);
    const at = braces ? mapOffset : offset;
    const hint = braces ? templateHint(this.#lines.line(this.#lines.position(at).line)) : undefined;
    this.#refuse("yaml-key", at, `a key must be a text, not a ${isMap(key) ? "map" : "list"}`, hint);
    return undefined;
  }

  #scalar(node: Scalar, offset: number): ScalarNode {
    const place = this.#place(offset);
    const { value } = node;
    if (typeof value === "string") {
      this.#weight += value.length >> 6;
      return { kind: "scalar", value, place: this.#textPlace(node, value, place) };
    }
    if (typeof value === "bigint") {
      if (value > LARGEST_INTEGER || value < -LARGEST_INTEGER) {
        const message = `integer ${shorten(node.source ?? String(value), 40)} is outside ±2^53 and would lose digits`;
        this.faults.push(this.#fault("yaml-integer", offset, message, "quote it"));
      } else if (/^[-+]?0\d/.test(node.source ?? "")) {
        // A number in octal, a code, a telephone number: whatever was meant, it is not what YAML 1.2 makes of it.
        const message = `integer ${shorten(node.source!, 40)} starts with a zero and would be read as ${value}`;
        this.faults.push(this.#fault("yaml-integer", offset, message, "leave the zero out, or quote it"));
      }
      return { kind: "scalar", value: Number(value), place };
    }
    if (typeof value === "number") {
      if (!Number.isFinite(value)) {
        const message = `number ${shorten(node.source ?? String(value), 40)} is not one that JSON can say`;
        this.faults.push(this.#fault("yaml-number", offset, message));
      }
      return { kind: "scalar", value, place };
    }
    return { kind: "scalar", value: typeof value === "boolean" ? value : null, place };
  }

  #alias(name: string, offset: number): SourceNode {
    const anchor = this.#anchors.get(name);
    this.#aliases++;
    if (this.#aliases > LIMITS.yamlAliases) {
      this.#refuseOnce("yaml-alias", offset, `a file may use at most ${LIMITS.yamlAliases} aliases`);
    } else if (anchor === undefined) {
      this.#refuse("yaml-alias", offset, `alias \`*${shorten(name, 60)}\` refers to no anchor before it`);
    } else if (anchor.node === undefined) {
      this.#refuse("yaml-alias", offset, `alias \`*${shorten(name, 60)}\` refers to the value that it is part of`);
    } else if (this.#expanded + anchor.weight > LIMITS.yamlAliasedNodes) {
      this.#refuseOnce(
        "yaml-alias",
        offset,
        `the file's aliases stand for more than ${LIMITS.yamlAliasedNodes} values`,
      );
    } else {
      this.#expanded += anchor.weight;
      this.#weight += anchor.weight;
      return anchor.node;
    }
    return this.#nothing(offset);
  }

  #refuse(id: string, offset: number, message: string, hint?: string): void {
    this.usable = false;
    this.faults.push(this.#fault(id, offset, message, hint));
  }

  /** For a limit of the whole file: said where it is passed first. */
  #refuseOnce(id: string, offset: number, message: string): void {
    if (this.#said.has(message)) return;
    this.#said.add(message);
    this.#refuse(id, offset, message);
  }

  #nothing(offset: number): ScalarNode {
    return { kind: "scalar", value: null, place: this.#place(offset) };
  }

  #place(offset: number): Place {
    return { file: this.#file, ...this.#lines.position(offset) };
  }

  #textPlace(node: Scalar, value: string, place: Place): TextPlace {
    const [start, end] = node.range ?? [0, 0];
    return { ...place, content: this.#content(node.type, value, start, end) };
  }

  /** Where a text's own characters start, when its lines in the file are its lines. */
  #content(type: Scalar.Type | undefined, value: string, start: number, end: number): Position | null {
    if (type === Scalar.BLOCK_LITERAL) {
      // The content starts on the line below the indicator; its indentation shows on the first line that is not blank.
      const lines = value.split("\n");
      const first = lines.findIndex((line) => line !== "");
      if (first === -1) return null;
      const { line } = this.#lines.position(start);
      const written = this.#lines.line(line + 1 + first);
      const content = (lines[first] ?? "").replace(/\r$/, "");
      return written.endsWith(content) ? { line: line + 1, column: written.length - content.length + 1 } : null;
    }
    const quoted = type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE ? 1 : 0;
    if (value.includes("\n") || this.#text.slice(start + quoted, end - quoted) !== value) return null;
    return this.#lines.position(start + quoted);
  }
}
