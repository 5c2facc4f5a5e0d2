/** The skills of a project: texts that are put into the system prompt, or behind tools that the model calls for them. */
import type { Diagnostic } from "../../base/diagnostic.ts";
import { DiagnosticError } from "../../base/errors.ts";
import { readTextBounded } from "../../base/files.ts";
import type { JsonObject } from "../../base/json.ts";
import { basename } from "../../deps/path.ts";
import { readShape, record, text } from "../../source/shape.ts";
import { qualifiedName } from "../../tool/name.ts";
import type { HarnessTool } from "../../tool/tool.ts";
import type { SettingPath } from "../faults.ts";
import { type Project, shownPath } from "../project.ts";
import { isDocument, type RegistryFile, SKILL_FILE } from "./entries.ts";
import { foreignInSkills } from "./foreign.ts";
import { readMarkdown } from "./markdown.ts";
import { type ListedEntry, type Note, Registry, type RegistryItem } from "./registry.ts";

/** The shape of a skill's front matter. */
export const skillShape = record({
  name: { shape: text, description: "What the skill is called in the system prompt" },
  description: { shape: text, description: "What it is for" },
});

interface Item extends RegistryItem {
  readonly body: string;
}

/** A skill, read. */
export interface ProjectSkill {
  /** The name that it is registered under. */
  readonly key: string;
  /** What it is called. */
  readonly name: string;
  readonly description: string | undefined;
  /** The text; no template. */
  readonly body: string;
}

/** See the module. */
export class ProjectSkills {
  readonly #project: Project;
  readonly #registry: Registry<Item>;

  /** The skills of a project; `note` is told what was left out of files that were written for other programs. */
  constructor(project: Project, note: Note = () => {}) {
    this.#project = project;
    const read = (file: RegistryFile) => this.#read(file);
    this.#registry = new Registry<Item>(project, { kind: "skills", noun: "skill", read }, note);
  }

  /**
   * The skill of a `skills:` entry; `path` is where the name stands in the files.
   *
   * @throws DiagnosticError for a file with faults, or an error that says which names there are
   */
  async named(key: string, path?: SettingPath): Promise<ProjectSkill> {
    const { item } = await this.#registry.find(key, path === undefined ? {} : { path });
    const { name = key, description, body } = this.#registry.use(item);
    return { key, name, description, body };
  }

  /** The names of all skills, sorted. */
  async names(): Promise<readonly string[]> {
    return await this.#registry.names();
  }

  /** Every skill, sorted by name. */
  async list(): Promise<ListedEntry[]> {
    return await this.#registry.list();
  }

  async #read({ path, stem }: RegistryFile): Promise<Item | undefined> {
    const shown = shownPath(path, this.#project.directory);
    const source = await readTextBounded(path);
    if (stem !== undefined && isDocument(path, source)) return undefined;
    // A `SKILL.md` is in the format that many programs share, wherever it stands.
    const foreign = stem !== undefined || basename(path) === SKILL_FILE ? foreignInSkills : undefined;
    const { root, body, diagnostics, remark } = readMarkdown(source, shown, foreign);
    const faults: Diagnostic[] = [...diagnostics];
    const fields = root === undefined ? {} : readShape(skillShape, root, faults);
    if (faults.length > 0) throw new DiagnosticError(faults);
    const { name, description } = fields!;
    return { name, description, body, remark };
  }
}

/** A skill as it stands in a system prompt: heading, description, and its text or what stands in for it. */
export function skillSection({ name, description }: ProjectSkill, body: string): string {
  const parts = [`## Skill: ${name}`, description ?? "", body];
  return parts.map((part) => part.trim()).filter((part) => part !== "").join("\n\n");
}

/** A system prompt with the skills behind it; undefined when there is neither. */
export function withSkills(system: string | undefined, sections: readonly string[]): string | undefined {
  const prompt = system === undefined || system.trim() === "" ? undefined : system;
  if (sections.length === 0) return prompt;
  const text = sections.join("\n\n");
  return prompt === undefined ? text : `${prompt}\n\n---\n\n${text}`;
}

/** What stands in the place of a skill's text when the text is behind a tool. */
export function skillPointer({ key }: ProjectSkill): string {
  return `Call the tool \`${qualifiedName("skill", key)}\` for this skill's instructions before you follow it.`;
}

const NO_PARAMETERS: JsonObject = Object.freeze({ type: "object", properties: Object.freeze({}) });

/** The tool that gives the text of a skill; its arguments do not matter. */
export function skillTool(skill: ProjectSkill): HarnessTool {
  const { key, description } = skill;
  return Object.freeze({
    kind: "tool" as const,
    name: qualifiedName("skill", key),
    description: description ?? `Gives the instructions of the skill \`${skill.name}\`.`,
    readOnly: true,
    inputSchema: NO_PARAMETERS,
    validate: (value: unknown) => Promise.resolve({ value }),
    resources: () => ({}),
    execute: () => skillSection(skill, skill.body),
  });
}
