/** Every number that the program enforces, once. Sizes are bytes, times are milliseconds, unless the name says otherwise. */

const KIB = 1024;
const MIB = 1024 * KIB;

/** The table of limits; frozen. */
export const LIMITS = Object.freeze({
  /** A file that lait reads: configuration, agent, skill, schema, workflow, script. */
  fileBytes: 16 * MIB,
  /** A transcript of a conversation that is read. */
  transcriptBytes: 256 * MIB,
  /** All files, and all local images, that are attached to one prompt. */
  attachedFileBytes: 10 * MIB,
  attachedImageBytes: 16 * MIB,
  /** What a command may write to each of its standard output and standard error. */
  commandStreamBytes: 16 * MIB,
  /** Between SIGTERM and SIGKILL when a process tree is ended. */
  terminateGraceMs: 500,
  /** How long an ended command's pipes are read on when a descendant holds them open. */
  drainMs: 2_000,
  /** How long to wait for a killed process to be gone. */
  reapMs: 1_000,
  /** A shell tool without `timeout:`, in seconds. */
  shellToolTimeoutSeconds: 30,
  /** Output of an `api_key_cmd`, and how long it may run. */
  keyCommandBytes: 64 * KIB,
  keyCommandMs: 30_000,
  /** Model requests of one turn in the command (`max_tool_rounds`), and in the API (`maxSteps`). */
  toolRounds: 8,
  steps: 100,
  /** Levels of subagents below an agent in the API. */
  delegationDepth: 3,
  /** Agent files that may run inside each other in the command. */
  agentFiles: 16,
  /** Files and directories that a collection of agents or skills may hold. */
  collectionEntries: 10_000,
  /** Newest messages that a compaction leaves as they are. */
  compactionKeeps: 4,
  /** Tool calls of one answer that run at once: in the command, in the API. */
  parallelCalls: 8,
  apiParallelCalls: 4,
  /** How long one tool call may take in the API. */
  callDeadlineMs: 300_000,
  /** Characters of a tool result that reach the model in the API. */
  resultCharacters: 100_000,
  /** Characters of a tool result that events carry as a preview. */
  previewCharacters: 2_000,
  /** A tool's qualified name. */
  toolNameLength: 64,
  /** One attempt at a model request in the command, its body included. */
  modelAttemptMs: 300_000,
  /** A model request in the API; while streaming, the silence between two chunks. */
  modelRequestMs: 120_000,
  /** A model's answer: in the command, in the API. */
  modelResponseBytes: 16 * MIB,
  apiModelResponseBytes: 8 * MIB,
  /** How much of a failed answer's body an error quotes. */
  errorBodyCharacters: 2_000,
  /** How much of an answer that cannot be used an error quotes. */
  quotedAnswerCharacters: 300,
  /** Retries of a model request in the command; the first wait, which doubles, and the longest that it grows to. */
  modelRetries: 3,
  retryDelayMs: 100,
  retryDelayCapMs: 8_000,
  /** The longest that lait waits because a server says when to come back. */
  retryAfterMs: 60_000,
  /** How long standard input may stay silent before stderr says that lait is waiting for it. */
  silentInputMs: 2_000,
  /** Lines that a chat recalls. */
  recalledLines: 1_000,
  /** How often an approval question is asked before anything else than y, n or a counts as n. */
  approvalQuestions: 3,
  /** Aliases (`*name`) that a YAML file may use, and what they may add: nodes, a text once for every 64 characters. */
  yamlAliases: 100,
  yamlAliasedNodes: 100_000,
  /** How deep values may be nested in a YAML file, and blocks and calls in a template. */
  yamlDepth: 200,
  templateDepth: 200,
  /** Nodes of a schema that is sent to a provider, once its references are replaced. */
  providerSchemaNodes: 20_000,
  /** Faults of one file, and issues of one value, that are told; what follows is seldom worth reading. */
  faultsShown: 100,
});
