/** Named prompts: templates over an input and variables. */
import { ConfigurationError } from "../base/errors.ts";
import { type JsonValue, setOwn } from "../base/json.ts";
import { didYouMean } from "../base/nearest.ts";
import type { PromptEntry } from "./config_shape.ts";
import type { Project } from "./project.ts";
import type { CallerSettings } from "./settings.ts";

/** A prompt of the configuration. */
export interface NamedPrompt {
  readonly name: string;
  readonly entry: PromptEntry;
  /** The settings that it brings: its model. */
  readonly settings: CallerSettings;
}

/**
 * The prompt of a name.
 *
 * @throws ConfigurationError that lists the names there are
 */
export function namedPrompt(project: Project, name: string): NamedPrompt {
  const prompts = project.config.prompts ?? {};
  if (!Object.hasOwn(prompts, name)) {
    const names = Object.keys(prompts).toSorted();
    const near = didYouMean(name, names);
    throw new ConfigurationError(
      names.length === 0
        ? `unknown prompt '${name}': there is no \`prompts:\` in lait.config.yml; add ` +
          `\`prompts: { ${name}: { template: "{{ input }}" } }\``
        : `unknown prompt '${name}'${near === undefined ? "" : ` (${near})`}; \`prompts:\` has ${names.join(", ")}`,
    );
  }
  const entry = prompts[name]!;
  const { model } = entry;
  return { name, entry, settings: model === undefined ? {} : { model, path: ["prompts", name] } };
}

/**
 * The text of a prompt for an input; `variables` win over the prompt's own.
 *
 * @throws DiagnosticError for a template with faults, TemplateError for a name that is not there, and for an object or
 * list where a text is to be: `{{ json input }}` prints those
 */
export async function renderPrompt(
  project: Project,
  { name, entry }: NamedPrompt,
  input: JsonValue,
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const { parseTemplate } = await import("../source/template/template.ts");
  const place = project.placeOf("prompts", name, "template");
  const template = parseTemplate(entry.template, place, { objects: "error" });
  const vars = {};
  for (const values of [entry.vars ?? {}, variables]) {
    for (const [key, value] of Object.entries(values)) setOwn(vars, key, value);
  }
  return template.render({ input, vars, steps: {} });
}

/**
 * `KEY=VALUE` words as variables; the last value of a key counts.
 *
 * @throws ConfigurationError for a word without `=` or without a key
 */
export function parseVariables(words: readonly string[]): Readonly<Record<string, string>> {
  const variables = {};
  for (const word of words) {
    const at = word.indexOf("=");
    if (at < 1) throw new ConfigurationError(`--var must be KEY=VALUE (got ${JSON.stringify(word)})`);
    setOwn(variables, word.slice(0, at), word.slice(at + 1));
  }
  return variables;
}

/** What a text says when it is JSON as a whole, else the text itself; also a whole number that would lose digits. */
export function jsonOrText(text: string): JsonValue {
  try {
    const value = JSON.parse(text) as JsonValue;
    return typeof value === "number" && /^-?\d+$/.test(text.trim()) && !Number.isSafeInteger(value) ? text : value;
  } catch {
    return text;
  }
}
