/** Skills: instructions and tools that the model loads when it needs them. */
import { ConfigurationError } from "../base/errors.ts";
import { checkKeys, checkText } from "../base/options.ts";
import { type ModelMessage, toolCalls } from "../model/message.ts";
import { defineHarnessTool } from "../tool/define.ts";
import { TOOL_NAME } from "../tool/name.ts";
import type { HarnessTool } from "../tool/tool.ts";
import type { HarnessToolset } from "../tool/toolset.ts";
import { flattenTools } from "./tool_list.ts";
import { asInstructions, type HarnessInstructions, type InstructionsResolver } from "./instructions.ts";

/** Options of {@link defineHarnessSkill}. */
export interface HarnessSkillOptions {
  /** 1–64 letters, digits, `_` or `-`; unique in a harness. */
  readonly name: string;
  /** Tells the model when to load it; not blank. */
  readonly description: string;
  /** What it learns by loading it. */
  readonly instructions: string | InstructionsResolver;
  /** Tools that are locked until it is loaded. Default: none. */
  readonly tools?: readonly (HarnessTool | HarnessToolset)[];
}

/** A skill; made by {@link defineHarnessSkill}, frozen. */
export interface HarnessSkill {
  /** Marks a skill. */
  readonly kind: "skill";
  /** The name to load it by. */
  readonly name: string;
  /** When to load it. */
  readonly description: string;
  /** What loading it teaches. */
  readonly instructions: HarnessInstructions;
  /** The tools that it unlocks. */
  readonly tools: readonly HarnessTool[];
}

/** The tool that loads a skill. */
export const LOAD_SKILL = "load_skill";

/**
 * Defines a skill. Its tools are always shown to the model, and run only once the skill is loaded. Skills guide; what
 * must not happen is for permissions to forbid.
 *
 * @throws ConfigurationError for a wrong option
 *
 * @example
 * ```ts
 * import { defineHarnessSkill } from "./skills.ts";
 * const release = defineHarnessSkill({
 *   name: "release",
 *   description: "How releases are made here.",
 *   instructions: "Bump the version, then tag.",
 * });
 * console.assert(release.tools.length === 0);
 * ```
 */
export function defineHarnessSkill(options: HarnessSkillOptions): HarnessSkill {
  checkKeys("defineHarnessSkill", options, ["name", "description", "instructions", "tools"]);
  const { name, description, instructions, tools = [] } = options;
  if (typeof name !== "string" || !TOOL_NAME.test(name)) {
    throw new ConfigurationError(
      `defineHarnessSkill: name must be 1 to 64 letters, digits, \`_\` or \`-\` (got ${JSON.stringify(name)})`,
    );
  }
  checkText(`defineHarnessSkill: the description of \`${name}\``, description);
  const source = typeof instructions === "function" ? { resolve: instructions } : instructions;
  return Object.freeze({
    kind: "skill" as const,
    name,
    description,
    instructions: typeof source === "string"
      ? asInstructions(source, `defineHarnessSkill: the instructions of \`${name}\``)
      : resolvedBy(source.resolve),
    tools: Object.freeze(flattenTools(tools)),
  });
}

function resolvedBy(resolver: InstructionsResolver): HarnessInstructions {
  return { kind: "instructions", resolve: async (context) => await resolver(context) };
}

/** The part of the system text that lists the skills; undefined when there are none. */
export function skillCatalogue(skills: readonly HarnessSkill[]): string | undefined {
  if (skills.length === 0) return undefined;
  const list = skills.map(({ name, description }) => `- ${name}: ${description}`).join("\n");
  return `Skills that can be loaded with the tool \`${LOAD_SKILL}\`; load one before you do what it is about:\n${list}`;
}

/** The tool that loads skills, for a harness with at least one. */
export function loadSkillTool(skills: readonly HarnessSkill[]): HarnessTool {
  return defineHarnessTool<{ name: string }>({
    name: LOAD_SKILL,
    description: "Loads a skill: returns its instructions and unlocks its tools.",
    input: {
      type: "object",
      properties: { name: { type: "string", enum: skills.map(({ name }) => name) } },
      required: ["name"],
      additionalProperties: false,
    },
    readOnly: true,
    execute: async ({ name }, { sandbox, signal, model }) => {
      const skill = skills.find((skill) => skill.name === name)!;
      const text = await skill.instructions.resolve({ sandbox, signal, model });
      const tools = skill.tools.map((tool) => tool.name);
      return tools.length === 0 ? text : `${text}\n\nTools that can be used now: ${tools.join(", ")}`;
    },
  }) as HarnessTool;
}

/** The skills that a history has loaded: each successful `load_skill` counts, until a compaction takes it away. */
export function loadedSkills(history: readonly ModelMessage[]): ReadonlySet<string> {
  const loaded = new Set<string>();
  const asked = new Map<string, string>();
  for (const message of history) {
    for (const block of message.content) {
      if (block.type !== "tool-result" || block.isError) continue;
      const name = asked.get(block.callId);
      if (name !== undefined) loaded.add(name);
    }
    asked.clear();
    for (const call of toolCalls(message)) {
      const name = (call.input as { name?: unknown } | null)?.name;
      if (call.name === LOAD_SKILL && typeof name === "string") asked.set(call.id, name);
    }
  }
  return loaded;
}
