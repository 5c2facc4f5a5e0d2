/** The lists of names that files and command lines give: `tools`, `subagents`, `skills`. */
import { matchesPattern } from "../tool/policy.ts";
import { type SettingPath, unknownName } from "./faults.ts";
import type { Project } from "./project.ts";

/** A name of a list. */
export interface ListedName {
  readonly name: string;
  /** Where it stands in the files; undefined when a command line gave it. */
  readonly path: SettingPath | undefined;
}

/** A list, and what its names can mean. */
export interface NameList {
  readonly names: readonly string[];
  /** Where the list stands. */
  readonly path: SettingPath | undefined;
  /** What is named: `tool`, `subagent`. */
  readonly kind: string;
  /** The registry's key. */
  readonly key: string;
  /** The names that the registry has; asked for only when a pattern needs them. */
  readonly known: () => Promise<readonly string[]>;
}

/**
 * The names of a list. One with a `*` is a pattern, as in `tool_policy`, and stands for all that it fits and that the
 * list does not have yet.
 *
 * @throws SettingError or ConfigurationError for a pattern that fits nothing
 */
export async function listedNames(project: Project, { names, path, ...list }: NameList): Promise<ListedName[]> {
  return await expandNames(project, names.map((name, index) => ({ name, path: path && [...path, index] })), list);
}

/** The same for names that were taken from a list already. */
export async function expandNames(
  project: Project,
  names: readonly ListedName[],
  list: Pick<NameList, "kind" | "key" | "known">,
): Promise<ListedName[]> {
  const { kind, key } = list;
  const found: ListedName[] = [];
  const fitted = new Set<string>();
  for (const { name, path } of names) {
    if (!name.includes("*")) {
      if (!fitted.has(name)) found.push({ name, path });
      continue;
    }
    const known = await list.known();
    const fitting = known.filter((one) => matchesPattern(name, one));
    if (fitting.length === 0) throw unknownName(project, { kind, name, key, known, path });
    for (const one of fitting) {
      if (found.some(({ name }) => name === one)) continue;
      found.push({ name: one, path });
      fitted.add(one);
    }
  }
  return found;
}
