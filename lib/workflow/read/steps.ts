/** Lists of steps, and one step: its kind, the fields that every step has, and those of the kind. */
import { nearest } from "../../base/nearest.ts";
import type { MapNode, SourceNode } from "../../source/node.ts";
import type { Step } from "../definition.ts";
import { KINDS } from "../kinds/kinds.ts";
import type { Kind } from "../kinds/kind.ts";
import { FieldReader, type FileReading, NAME } from "./fields.ts";

const COMMON = ["id", "when", "input", "output"] as const;
const ATTEMPTS = ["retry", "timeout", "on_error"] as const;

/** Reads a list of steps; `where` is where it stands. */
export function readSteps(node: SourceNode, where: string, reading: FileReading): readonly Step[] {
  if (node.kind !== "list") {
    reading.faults.type(node.place, `${where} must be a list of steps`, "put `- ` in front of each step");
    return [];
  }
  if (node.items.length === 0) {
    reading.faults.type(node.place, `${where} is empty: it must hold at least one step`);
    return [];
  }
  return node.items.flatMap((item, index) => {
    if (item.kind === "map") return readStep(item, `${where}[${index}]`, index + 1, reading) ?? [];
    reading.faults.type(item.place, `${where}[${index}] must be a step, a map`);
    return [];
  });
}

function readStep(node: MapNode, at: string, position: number, reading: FileReading): Step | undefined {
  const idNode = node.entries.find(({ key }) => key === "id")?.value;
  const shownId = idNode?.kind === "scalar" && typeof idNode.value === "string" ? ` (id '${idNode.value}')` : "";
  const where = `${at}${shownId}`;
  const reader = new FieldReader(node, where, reading);
  const kind = kindOf(reader);
  if (kind === undefined) return undefined;
  const accepted = [kind.name, ...COMMON, ...kind.ends ? [] : ATTEMPTS, ...Object.keys(kind.fields)];
  reader.onlyKeys(
    accepted,
    (key) => `unknown field '${key}'; '${kind.name}' steps accept: ${accepted.slice(1).join(", ")}`,
    true,
  );
  const id = reader.text("id");
  if (id !== undefined && !NAME.test(id)) {
    reader.fault(
      "id",
      "name",
      `\`id\` must be letters, digits, \`_\` and \`-\`, not starting with a digit (got '${id}')`,
    );
  }
  const body = kind.read(reader);
  const onError = reader.entry("on_error");
  return Object.freeze({
    kind,
    body,
    id,
    position,
    place: node.place,
    where,
    when: reader.expression("when"),
    input: reader.expression("input"),
    output: reader.expression("output"),
    retry: kind.ends ? undefined : reader.retry(),
    timeout: kind.ends ? undefined : reader.integer("timeout", 1),
    onError: onError === undefined || kind.ends ? undefined : readSteps(onError.value, `${where}.on_error`, reading),
  });
}

function kindOf(reader: FieldReader): Kind | undefined {
  const names = [...KINDS.keys()];
  const found = reader.keys.filter((key) => KINDS.has(key));
  if (found.length === 1) return KINDS.get(found[0]!);
  const { faults } = reader.reading;
  if (found.length > 1) {
    const message = `${reader.where}: a step has exactly one kind, found ${found.join(" and ")}`;
    faults.add("step-kind", reader.entry(found[1]!)!.keyPlace, message, "make two steps of it");
    return undefined;
  }
  const meant = reader.keys.map((key) => nearest(key, names)).find((name) => name !== undefined);
  const hint = reader.has("use")
    ? "`use:` belongs to workflow version 1; write the step here: prompt, run, jq, …"
    : meant === undefined
    ? undefined
    : `did you mean \`${meant}\`?`;
  faults.add("step-kind", reader.place, `${reader.where}: a step needs exactly one of: ${names.join(", ")}`, hint);
  return undefined;
}
