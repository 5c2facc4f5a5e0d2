/** What is wrong with a value, in lait's words: one issue for each thing to put right. */
import { shorten } from "../base/text.ts";
import type { ErrorObject } from "../deps/ajv.ts";
import { formatPath, pointerSegments } from "./paths.ts";
import { type ErrorNode, groupErrors } from "./unions.ts";
import { badKey, describe, expectation, type Expected, type Finding } from "./wording.ts";

/** One thing that is wrong with a value. */
export interface SchemaIssue {
  /** Where in the value: `input.items[0].zip`, `input["a key"]`. */
  readonly path: string;
  /** The whole sentence, path included, without a period: `input.zip must be of type string (got integer)`. */
  readonly message: string;
  /** The schema's keyword that is not met, such as `type` or `required`. */
  readonly keyword: string;
}

const SHOWN_NEAREST_CHARACTERS = 500;

/**
 * The issues behind Ajv's errors.
 *
 * @param errors Of an instance that went through `traceUnions`, with `verbose` and `allErrors`.
 * @param root The value that was checked.
 * @param label What the root is called in paths.
 */
export function toIssues(errors: readonly ErrorObject[], root: unknown, label: string): SchemaIssue[] {
  return new IssueWriter(root, label).write(groupErrors(errors));
}

class IssueWriter {
  readonly #root: unknown;
  readonly #label: string;
  readonly #paths = new Map<string, string>();

  constructor(root: unknown, label: string) {
    this.#root = root;
    this.#label = label;
  }

  write(nodes: readonly ErrorNode[]): SchemaIssue[] {
    return this.#find(nodes).map(({ pointer, keyword, text }) => {
      const path = this.#path(pointer);
      return { path, message: `${path} ${text}`, keyword };
    });
  }

  #path(pointer: string): string {
    let path = this.#paths.get(pointer);
    if (path === undefined) {
      path = formatPath(this.#label, pointerSegments(pointer, this.#root));
      this.#paths.set(pointer, path);
    }
    return path;
  }

  #find(nodes: readonly ErrorNode[]): Finding[] {
    const findings = new Map<string, Finding>();
    for (const finding of merged(nodes).flatMap((node) => this.#describe(node))) {
      const key = `${finding.pointer}\n${finding.text}`;
      if (!findings.has(key)) findings.set(key, finding);
    }
    return withoutConsequences([...findings.values()]);
  }

  #describe(node: Merged): Finding[] {
    const { error } = node;
    const isUnion = node.alternatives !== undefined && error.keyword !== "contains";
    if (error.propertyName !== undefined) {
      const { pointer, keyword, text } = describe(error, node.names);
      return [badKey(pointer, keyword, error.propertyName, isUnion ? "is not allowed" : text)];
    }
    if (!isUnion) return [describe(error, node.names)];
    return this.#describeUnion(node, node.alternatives!.map((alternative) => this.#find(alternative)));
  }

  /** A value that fits no alternative: as little as helps to put it right. */
  #describeUnion({ error, fitting }: Merged, alternatives: readonly (readonly Finding[])[]): Finding[] {
    const { instancePath: pointer, keyword, data } = error;
    if (fitting !== undefined) {
      const [first, second] = fitting;
      return [{
        pointer,
        keyword,
        text: `must fit exactly one of its ${alternatives.length} alternatives (fits numbers ${first + 1} and ${
          second + 1
        })`,
      }];
    }
    const choice = commonChoice(alternatives, pointer);
    if (choice !== undefined) return [expectation(pointer, choice, keyword, data)];
    // Who sends an object means none of the alternatives that are texts.
    const rightType = alternatives.filter((found) => !found.some((f) => isWrongType(f) && f.pointer === pointer));
    const tag = commonTag(rightType);
    if (tag !== undefined) return [tag];
    // Of objects told apart by a constant, the one whose constant is right is meant.
    const rightTag = rightType.filter((found) => !found.some((f) => f.expected !== undefined && f.keyword !== "type"));
    const meant = rightTag.length > 0 ? rightTag : rightType;
    if (meant.length === 1) return [...meant[0]!];
    const among = meant.length === 0 ? alternatives : meant;
    const nearest = among.reduce((best, found) => found.length < best.length ? found : best);
    const sentences = nearest.map((f) => `${this.#path(f.pointer)} ${f.text}`).join(", ");
    return [{
      pointer,
      keyword,
      text: `fits none of its ${alternatives.length} alternatives (nearest: ${
        shorten(sentences, SHOWN_NEAREST_CHARACTERS)
      })`,
    }];
  }
}

/** An error and the others of the same object that are told in the same sentence. */
interface Merged extends ErrorNode {
  /** The fields that they name. */
  readonly names: readonly string[];
}

/** The parameters of Ajv's errors that name a property: all of one object are one issue. */
const NAME_PARAMETERS: Readonly<Record<string, string>> = {
  required: "missingProperty",
  additionalProperties: "additionalProperty",
  unevaluatedProperties: "unevaluatedProperty",
};

function merged(nodes: readonly ErrorNode[]): Merged[] {
  const groups = new Map<string, { node: ErrorNode; names: Set<string> }>();
  nodes.forEach((node, index) => {
    const { error } = node;
    const parameter = NAME_PARAMETERS[error.keyword];
    const name: unknown = parameter === undefined ? undefined : error.params[parameter];
    // Two schemas for one object may miss keys of each other's; what they know of others is each one's own.
    const schema = error.keyword === "required" ? "" : error.schemaPath;
    const key = typeof name === "string" ? `${error.keyword}${schema}\n${error.instancePath}` : String(index);
    const group = groups.get(key) ?? { node, names: new Set() };
    if (typeof name === "string") group.names.add(name);
    groups.set(key, group);
  });
  return Array.from(groups.values(), ({ node, names }) => ({ ...node, names: [...names] }));
}

/** Leaves out what another finding explains. Something is always left: each step keeps what it drops others for. */
function withoutConsequences(all: readonly Finding[]): Finding[] {
  // `if` adds its own to what `then` or `else` says, and `propertyNames` to what the name's schema says.
  const others = all.filter((f) => f.keyword !== "if");
  const findings = others.length === 0 ? all : others;
  const badKeys = new Set(findings.filter((f) => f.keyword !== "propertyNames").map(keyOf));
  const wrongType = new Set(findings.filter(isWrongType).map((f) => f.pointer));
  return findings.filter((finding) => {
    if (finding.keyword === "propertyNames" && badKeys.has(keyOf(finding))) return false;
    for (let pointer = finding.pointer; wrongType.size > 0; pointer = pointer.slice(0, pointer.lastIndexOf("/"))) {
      if (wrongType.has(pointer) && !(pointer === finding.pointer && isWrongType(finding))) return false;
      if (pointer === "") break;
    }
    return true;
  });
}

/** Whether a finding is that its value has the wrong type; that of a key says nothing about the value at its pointer. */
function isWrongType({ keyword, badKey }: Finding): boolean {
  return keyword === "type" && badKey === undefined;
}

/** Which key of which object a finding is about. */
function keyOf({ pointer, badKey }: Finding): string {
  return JSON.stringify([pointer, badKey]);
}

/** What all alternatives together accept at `pointer`, when each says no more than that. */
function commonChoice(alternatives: readonly (readonly Finding[])[], pointer: string): Expected | undefined {
  const all = alternatives.map((found) => {
    const only = found.length === 1 && found[0]!.pointer === pointer ? found[0] : undefined;
    return only?.expected;
  });
  return joined(all);
}

/** The constant by which every one of the alternatives tells itself apart, when it is the value of none. */
function commonTag(alternatives: readonly (readonly Finding[])[]): Finding | undefined {
  const tags = alternatives.map((found) => found.find((f) => (f.expected?.values.length ?? 0) > 0));
  const first = tags[0];
  if (first === undefined || tags.length < 2 || tags.some((tag) => tag?.pointer !== first.pointer)) return undefined;
  const all = joined(tags.map((tag) => tag?.expected));
  return all === undefined || all.types.length > 0 ? undefined : expectation(first.pointer, all, "enum", undefined);
}

function joined(all: readonly (Expected | undefined)[]): Expected | undefined {
  const known = all.filter((one) => one !== undefined);
  if (known.length === 0 || known.length < all.length) return undefined;
  const values = new Map(known.flatMap((one) => one.values).map((value) => [JSON.stringify(value), value]));
  return { types: [...new Set(known.flatMap((one) => one.types))], values: [...values.values()] };
}
