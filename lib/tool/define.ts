/** `defineHarnessTool`: a tool from a function. */
import { ConfigurationError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { checkKeys, checkOneOf, checkText } from "../base/options.ts";
import { type StandardSchema, toolInputSchema } from "../schema/standard.ts";
import { TOOL_NAME } from "./name.ts";
import type { HarnessTool, HarnessToolContext, ToolOutput, ToolResources } from "./tool.ts";

/** Options of {@link defineHarnessTool}. */
export interface HarnessToolOptions<Input> {
  /** 1–64 letters, digits, `_` or `-`; unique in a harness. */
  readonly name: string;
  /** Shown to the model; not blank. */
  readonly description: string;
  /** JSON Schema with `type: "object"` at its root, or a Standard Schema that converts to one (Zod 4, ArkType, …). */
  readonly input: JsonObject | StandardSchema;
  /** Whether neighbouring calls may run together. It guides scheduling and forbids nothing. Default: false. */
  readonly readOnly?: boolean;
  /** Marks a tool that makes sense in a Git workspace only. Default: it makes sense anywhere. */
  readonly workspace?: "git";
  /** What a call touches, for permission rules. Default: nothing. */
  resources?(input: Input): ToolResources;
  /** The argv that a call will run, for whoever approves it. */
  preview?(input: Input): readonly string[] | undefined;
  /** Runs a call; runs in this process, with its rights. Files and commands go through `context.sandbox`. */
  execute(input: Input, context: HarnessToolContext): ToolOutput | Promise<ToolOutput>;
}

const OPTION_KEYS = ["name", "description", "input", "readOnly", "workspace", "resources", "preview", "execute"];

/**
 * Defines a tool.
 *
 * @throws ConfigurationError for a wrong option or a schema that cannot be used
 *
 * @example
 * ```ts
 * import { defineHarnessTool } from "./define.ts";
 * const add = defineHarnessTool<{ a: number; b: number }>({
 *   name: "add",
 *   description: "Adds two numbers.",
 *   input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
 *   readOnly: true,
 *   execute: ({ a, b }) => String(a + b),
 * });
 * console.assert(add.name === "add");
 * ```
 */
export function defineHarnessTool<Input = Record<string, unknown>>(
  options: HarnessToolOptions<Input>,
): HarnessTool<Input> {
  checkKeys("defineHarnessTool", options, OPTION_KEYS);
  const { name, description, readOnly = false } = options;
  if (typeof name !== "string" || !TOOL_NAME.test(name)) {
    throw new ConfigurationError(
      `defineHarnessTool: name must be 1 to 64 letters, digits, \`_\` or \`-\` (got ${JSON.stringify(name)})`,
    );
  }
  checkText(`defineHarnessTool: the description of \`${name}\``, description);
  if (typeof readOnly !== "boolean") throw new ConfigurationError("defineHarnessTool: readOnly must be true or false");
  if (typeof options.execute !== "function") {
    throw new ConfigurationError(`defineHarnessTool: \`${name}\` needs an \`execute\` function`);
  }
  checkOneOf("defineHarnessTool: workspace", options.workspace, ["git"]);
  const { schema, validate } = toolInputSchema(options.input);
  return Object.freeze({
    kind: "tool" as const,
    name,
    description,
    readOnly,
    ...(options.workspace === undefined ? {} : { workspace: options.workspace }),
    inputSchema: schema as JsonObject,
    // The schema's output is what `Input` says: the author wrote both.
    validate: validate as HarnessTool<Input>["validate"],
    resources: (input: Input) => options.resources?.(input) ?? {},
    ...(options.preview === undefined ? {} : { preview: (input: Input) => options.preview!(input) }),
    execute: (input: Input, context: HarnessToolContext) => options.execute(input, context),
  });
}
