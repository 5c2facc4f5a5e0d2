/** Which settings of agents and skills are other programs', so that their collections work as they are. */
import type { ForeignRule } from "./markdown.ts";

const MODELS = ["inherit", "sonnet", "opus", "haiku"];

/** Keys of agents that lait does not have and other programs do. */
const AGENT_KEYS = [
  "background",
  "color",
  "disallowedTools",
  "effort",
  "hooks",
  "initialPrompt",
  "isolation",
  "maxTurns",
  "mcpServers",
  "memory",
  "permissionMode",
];

/** Keys of skills that the format has, or other programs add. */
const SKILL_KEYS = [
  "agent",
  "allowed-tools",
  "argument-hint",
  "arguments",
  "author",
  "compatibility",
  "context",
  "disable-model-invocation",
  "effort",
  "hooks",
  "license",
  "metadata",
  "model",
  "paths",
  "shell",
  "tags",
  "user-invocable",
  "version",
  "when_to_use",
];

/** Names as other programs give them to tools: `Read`, `Bash(git *)`, `mcp__server__tool`. */
const FOREIGN_TOOL = /^(\*|[A-Z][A-Za-z]*(\(.*\))?|mcp__.+)$/;

/** Of an agent; `tools` are the names that lait knows. */
export function foreignInAgents(tools: readonly string[]): ForeignRule {
  return ({ key, value }) => {
    if (AGENT_KEYS.includes(key)) return true;
    if (value.kind === "scalar") {
      if (key === "tools" || key === "skills") return typeof value.value === "string" || value.value === null;
      return key === "model" && MODELS.includes(String(value.value));
    }
    if (key !== "tools" || value.kind !== "list" || value.items.length === 0) return false;
    return value.items.every((item) =>
      item.kind === "scalar" && typeof item.value === "string" && FOREIGN_TOOL.test(item.value) &&
      !tools.includes(item.value)
    );
  };
}

/** Of a skill. */
export const foreignInSkills: ForeignRule = ({ key }) => SKILL_KEYS.includes(key);
