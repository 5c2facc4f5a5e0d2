/** The dry run: what a workflow would do, as text. Nothing is started and nobody is asked. */
import { ContextError } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import { shownPath } from "../project/project.ts";
import type { RequestSettings } from "../project/settings.ts";
import type { Template } from "../source/template/template.ts";
import { positionLabel, type SchemaSource, type Step } from "./definition.ts";
import type { FileRun } from "./run/scope.ts";
import { attemptSettings } from "./run/steps.ts";

/** What is known before a run. */
interface Known {
  readonly inputs: Readonly<Record<string, JsonValue>>;
  /** The value that flows in; undefined where only a run can tell. */
  readonly input: { readonly value: JsonValue } | undefined;
}

/** Writes the plan of steps. */
export class PlanWriter {
  /** The file that is planned. */
  readonly file: FileRun;
  readonly #lines: string[];
  readonly #indent: string;
  readonly #known: Known;
  readonly #step: Step | undefined;
  /** Models are looked up in order, after the lines around them. */
  readonly #later: Promise<void>[];

  /** A writer at an indentation. */
  constructor(file: FileRun, lines: string[], indent: string, known: Known, later: Promise<void>[], step?: Step) {
    this.file = file;
    this.#lines = lines;
    this.#indent = indent;
    this.#known = known;
    this.#later = later;
    this.#step = step;
  }

  /** Writes a line. */
  line(text: string): void {
    this.#lines.push(...text.split("\n").map((line) => `${this.#indent}${line}`.trimEnd()));
  }

  /** A template's text where it can be known; else its source, marked. */
  rendered(template: Template): string {
    const { inputs, input } = this.#known;
    const needs = template.references().map(({ path }) => String(path[0]));
    const known = needs.every((name) => name === "inputs" || (name === "input" && input !== undefined));
    if (known) {
      try {
        return template.render({
          inputs,
          steps: {},
          loop: null,
          ...(input === undefined ? {} : { input: input.value }),
        });
      } catch {
        // The run itself will say why.
      }
    }
    return `[unrendered: ${template.source}]`;
  }

  /** Writes a field that is a template, when it is there. */
  template(name: string, template: Template | undefined): void {
    if (template !== undefined) this.line(`${name}: ${this.rendered(template)}`);
  }

  /** Writes which schema a field means. */
  schema(name: string, source: SchemaSource | undefined, remark?: string): void {
    if (source === undefined) return;
    this.line(`${name}: ${schemaText(source)}${remark === undefined ? "" : ` (${remark})`}`);
  }

  /** Writes which model would be asked, and what it would be offered; undefined from `resolve`: it cannot be told. */
  model(resolve: () => RequestSettings | undefined | Promise<RequestSettings | undefined>): void {
    const at = this.#lines.push("") - 1;
    const work = async () => {
      let settings: RequestSettings | undefined;
      try {
        settings = await resolve();
      } catch (error) {
        const label = this.#step === undefined ? "" : positionLabel(this.#step);
        throw new ContextError(`step '${label}'`, error);
      }
      this.#lines[at] = settings === undefined
        ? `${this.#indent}model: unknown until the agent is found`
        : modelLines(settings, this.file.host.directory).map((line) => `${this.#indent}${line}`).join("\n");
    };
    this.#later.push(work());
  }

  /** Writes steps below; `first` when the first of them gets what flows into this one. */
  steps(title: string | undefined, steps: readonly Step[], options: { readonly first?: boolean } = {}): void {
    if (title !== undefined) this.line(title);
    const known = options.first ? this.#known : { ...this.#known, input: undefined };
    writeSteps(this.file, this.#lines, `${this.#indent}  `, known, this.#later, steps);
  }
}

function modelLines(settings: RequestSettings, directory: string): string[] {
  const { endpoint, model } = settings;
  const where = endpoint.kind === "script" ? `script ${shownPath(endpoint.path, directory)}` : endpoint.baseUrl;
  const lists = (["mcp", "skills", "subagents", "tools"] as const)
    .flatMap((name) => settings[name].length === 0 ? [] : [`${name}: ${settings[name].join(", ")}`]);
  return [`model: ${model.name} @ ${where}`, ...lists];
}

function schemaText(source: SchemaSource): string {
  if (source.name !== undefined) return `'${source.name}'`;
  return source.kind === "file" ? `file '${source.path}'` : "inline schema";
}

function writeSteps(
  file: FileRun,
  lines: string[],
  indent: string,
  known: Known,
  later: Promise<void>[],
  steps: readonly Step[],
): void {
  for (const [index, step] of steps.entries()) {
    lines.push(`${indent}[${step.position}] ${positionLabel(step)}  (${step.kind.name})`);
    const first = index === 0 && step.input === undefined;
    const inner = first ? known : { ...known, input: undefined };
    const writer = new PlanWriter(file, lines, `${indent}    `, inner, later, step);
    if (step.when !== undefined) writer.line(`when: ${step.when.source}`);
    if (step.input !== undefined) writer.line(`input: ${step.input.source}`);
    step.kind.plan(step.body, writer);
    if (step.output !== undefined) writer.line(`output: ${step.output.source}`);
    const { retry, timeout } = attemptSettings(step, { file });
    const { maxAttempts, delaySeconds, backoff } = retry;
    if (maxAttempts > 1 || step.retry !== undefined) {
      writer.line(`retry: max_attempts=${maxAttempts}, delay_seconds=${delaySeconds}, backoff=${backoff}`);
    }
    if (timeout !== undefined) writer.line(`timeout: ${timeout}s`);
    if (step.onError !== undefined) writer.steps("on_error:", step.onError);
  }
}

/**
 * The plan of a file.
 *
 * @throws ContextError for a model that cannot be resolved
 */
export async function planOf(file: FileRun, value: JsonValue): Promise<string> {
  const { definition } = file;
  const lines: string[] = [];
  const later: Promise<void>[] = [];
  const title = definition.name === undefined ? definition.shown : `${definition.name} (${definition.shown})`;
  lines.push(`dry run of ${title}: nothing is started`);
  if (definition.inputSchema !== undefined) lines.push(`input_schema: ${schemaText(definition.inputSchema)}`);
  if (Object.keys(file.inputs).length > 0) lines.push(`inputs: ${JSON.stringify(file.inputs)}`);
  const known: Known = { inputs: file.inputs, input: { value } };
  writeSteps(file, lines, "", known, later, definition.steps);
  if (definition.output !== undefined) lines.push(`output: ${definition.output.source}`);
  if (definition.timeout !== undefined) lines.push(`timeout: ${definition.timeout}s (whole workflow)`);
  await Promise.all(later);
  return lines.join("\n");
}
