/** The shape of `lait.config.yml`: every key, its type, and a line about it. The one place that lists them. */
import {
  boolean,
  type Infer,
  integerIn,
  json,
  list,
  map,
  numberIn,
  oneOf,
  record,
  stringList,
  text,
  union,
} from "../source/shape.ts";

const reasoning = oneOf(["none", "minimal", "low", "medium", "high", "xhigh"]);
const temperature = numberIn({ minimum: 0, maximum: 2 });
const topP = numberIn({ minimum: 0, maximum: 1 });
const maxTokens = integerIn({ minimum: 1, maximum: 4_294_967_295 });
const command = union(text, list(text, { minimumItems: 1 }));

const keyFields = {
  api_key: { shape: text, description: "The key; takes ${VAR}" },
  api_key_cmd: { shape: command, description: "A command that prints the key, as a shell line or a list of words" },
} as const;

const defaults = record({
  model: { shape: text, description: "Alias or id of the model" },
  reasoning_effort: { shape: reasoning, description: "How hard the model thinks" },
  temperature: { shape: temperature, description: "Sampling temperature" },
  top_p: { shape: topP, description: "Nucleus sampling" },
  max_tokens: { shape: maxTokens, description: "Tokens that one answer may have" },
  system: { shape: text, description: "System prompt of chats" },
  mcp: { shape: stringList, description: "MCP servers to offer" },
  skills: { shape: stringList, description: "Skills to offer" },
  subagents: { shape: stringList, description: "Agents to offer as tools" },
  tools: { shape: stringList, description: "Local commands to offer as tools" },
  max_tool_rounds: { shape: integerIn({ minimum: 1 }), description: "Model requests of one run", default: 8 },
  render: { shape: boolean, description: "Render Markdown on a terminal", default: false },
  history: { shape: boolean, description: "Record runs in the history", default: true },
  cache: { shape: boolean, description: "Answer repeated requests from the disk cache", default: false },
  cache_ttl: { shape: integerIn({ minimum: 0 }), description: "Seconds that a cached answer is good for" },
  compaction: {
    shape: record({
      trigger_rounds: { shape: integerIn({ minimum: 1 }), description: "Before each round that is a multiple of this" },
      trigger_tokens: { shape: integerIn({ minimum: 1 }), description: "When a round used this many prompt tokens" },
      keep_last_n: {
        shape: integerIn({ minimum: 0 }),
        description: "Newest messages that stay as they are",
        default: 4,
      },
      model: { shape: text, description: "Alias or id of the model that summarizes" },
    }),
    description: "Summarizing long tool loops",
  },
  skill_progressive_disclosure: {
    shape: boolean,
    description: "Skills as tools that are read on demand",
    default: false,
  },
});

/** One entry of a model alias. */
export const modelShape = record({
  provider: {
    shape: union(
      record({
        base_url: { shape: text, required: true, description: "The API's root; takes ${VAR}" },
        ...keyFields,
      }),
      record({ script: { shape: text, required: true, description: "A file with scripted answers" } }),
    ),
    required: true,
    description: "Where the model is asked",
  },
  model_id: { shape: text, description: "The name that the server knows; not needed with a script" },
  default_reasoning_effort: { shape: reasoning, description: "Used when the caller sets none" },
  default_temperature: { shape: temperature, description: "Used when the caller sets none" },
  default_top_p: { shape: topP, description: "Used when the caller sets none" },
  default_max_tokens: { shape: maxTokens, description: "Used when the caller sets none" },
  pricing: {
    shape: record({
      input_per_1m: {
        shape: numberIn({ minimum: 0 }),
        required: true,
        description: "US dollars a million input tokens",
      },
      output_per_1m: {
        shape: numberIn({ minimum: 0 }),
        required: true,
        description: "US dollars a million output tokens",
      },
    }),
    description: "What tokens cost",
  },
  api: {
    shape: oneOf(["chat_completions", "responses"]),
    description: "The API to speak",
    default: "chat_completions",
  },
});

const tool = record({
  description: { shape: text, description: "Shown to the model" },
  command: {
    shape: list(text, { minimumItems: 1 }),
    required: true,
    description: "Program and arguments, as templates",
  },
  parameters: { shape: json, description: "JSON Schema of the arguments" },
  timeout: { shape: integerIn({ minimum: 0 }), description: "Seconds", default: 30 },
  env: { shape: map(text), description: "The child's whole environment, when given; takes ${VAR}" },
  cwd: { shape: text, description: "The working directory; takes ${VAR}" },
});

const mcpServer = record({
  command: { shape: text, description: "A program that speaks MCP on its standard streams" },
  args: { shape: stringList, description: "Its arguments" },
  env: { shape: map(text), description: "Variables on top of the inherited ones" },
  cwd: { shape: text, description: "Its working directory" },
  url: { shape: text, description: "A Streamable HTTP endpoint" },
  headers: { shape: map(text), description: "Sent with every request" },
  allowed_tools: { shape: stringList, description: "Tools that may be called; absent: all" },
  timeout: {
    shape: integerIn({ minimum: 1 }),
    description: "Seconds without progress after which a request has failed",
    default: 300,
  },
  auth: {
    shape: union(
      oneOf(["oauth"]),
      record({
        client_id: { shape: text, description: "A client that is registered already; takes ${VAR}" },
        client_secret: { shape: text, description: "Its secret; takes ${VAR}" },
        scope: { shape: text, description: "What is asked for, unless the server says" },
        redirect_port: {
          shape: integerIn({ minimum: 1, maximum: 65_535 }),
          description: "The port of the redirect on this machine; absent: any free one",
        },
      }),
    ),
    description: "OAuth: `oauth`, or a map with its settings; log in with `lait mcp login`",
  },
  allow_elicitation: { shape: boolean, description: "Whether the server may ask the user", default: false },
});

/** The shape of the whole file. */
export const configShape = record({
  base_url: { shape: text, description: "The API's root for models without an alias; takes ${VAR}" },
  ...keyFields,
  default: { shape: defaults, description: "Settings that hold unless a caller sets others" },
  models: { shape: map(list(modelShape, { minimumItems: 1 })), description: "Aliases of models" },
  prompts: {
    shape: map(record({
      template: { shape: text, required: true, description: "The prompt, a template over `input` and `vars`" },
      model: { shape: text, description: "Alias or id of the model" },
      vars: { shape: map(text), description: "Values that `--var` can override" },
    })),
    description: "Named prompts",
  },
  mcp_servers: { shape: map(mcpServer), description: "MCP servers" },
  skills: { shape: map(text), description: "Paths of skills" },
  agents: { shape: map(text), description: "Paths of agents" },
  workflows: { shape: map(text), description: "Paths of workflows" },
  tools: { shape: map(tool), description: "Local commands that models may call" },
  tool_policy: {
    shape: record({
      allow: { shape: stringList, description: "Patterns of tools that may run; empty: all" },
      deny: { shape: stringList, description: "Patterns of tools that never run" },
    }),
    description: "Which tools may run",
  },
  jev: {
    shape: record({
      base_url: { shape: text, description: "The decision service's root; takes ${VAR}" },
      ...keyFields,
      model: { shape: text, description: "The decision model" },
    }),
    description: "The decision service",
  },
});

/** The content of one configuration file, checked for keys, types and enums. */
export type Config = Infer<typeof configShape>;

/** `default:`. */
export type DefaultSettings = NonNullable<Config["default"]>;

/** One entry of a model alias. */
export type ModelDefinition = NonNullable<Config["models"]>[string][number];

/** One entry of `mcp_servers:`. */
export type McpServerEntry = NonNullable<Config["mcp_servers"]>[string];

/** One entry of `prompts:`. */
export type PromptEntry = NonNullable<Config["prompts"]>[string];

/** One entry of `tools:`. */
export type ToolEntry = NonNullable<Config["tools"]>[string];

/** Where a key comes from. */
export interface KeyFields {
  readonly api_key?: string;
  readonly api_key_cmd?: string | readonly string[];
}
