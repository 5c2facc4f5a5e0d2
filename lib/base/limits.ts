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
  /** A turn of a dispatch; the silence that it may keep; how often silence is warned of; a shell expansion of a brief. */
  turnDeadlineMs: 3_600_000,
  turnIdleMs: 600_000,
  idleWarningMs: 60_000,
  expansionMs: 30_000,
  /** After a completion marker, for agents whose process may stay. */
  settleMs: 60_000,
  /** A hook command of a workspace. */
  hookMs: 600_000,
  /** Stages of a workspace: copying files in, one Git command, reading what came out, merging. */
  copyMs: 600_000,
  gitMs: 120_000,
  collectMs: 60_000,
  mergeMs: 120_000,
  /** Characters of a label in the name of a branch or directory. */
  labelLength: 48,
  /** Failed tool calls that a report lists, and characters of each one's output. */
  reportFailures: 100,
  reportPreviewCharacters: 4_096,
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
  /** MCP: the handshake, a page of a list, a call; each piece of progress gives it anew, up to the total. */
  mcpRequestMs: 300_000,
  mcpTotalMs: 3_600_000,
  /** MCP in the API: until a server is ready. */
  mcpStartupMs: 60_000,
  /** Between the end of a server's standard input and SIGTERM; how long last notices may take over HTTP. */
  mcpCloseMs: 500,
  /** One message on standard output, a body over HTTP, and all descriptions and schemas of a server's tools. */
  mcpMessageBytes: 16 * MIB,
  mcpBodyBytes: 16 * MIB,
  mcpMetadataBytes: 16 * MIB,
  /** What a server may write to standard output that is no message. */
  mcpNoiseBytes: 64 * MIB,
  /** Pages of a list, tools of a page, and tools of a server and of a request. */
  mcpPages: 128,
  mcpPageTools: 1_024,
  mcpTools: 8_192,
  /** How much of a server's standard error an error quotes. */
  mcpStderrCharacters: 4_096,
  /** How long a person has to log in at an MCP server. */
  mcpLoginMs: 300_000,
  /** Nodes of a schema that is sent to a provider, once its references are replaced. */
  providerSchemaNodes: 20_000,
  /** Workflow files on one chain of calls, and the longest wait before another attempt. */
  workflowFiles: 32,
  retryWaitMs: 3_600_000,
  /** Options of a `choice` question of `decide`, and levels of a `score`. */
  decideOptions: 255,
  decideLevels: 10,
  /** One request of `decide`. */
  decideMs: 300_000,
  /** Faults of one file, and issues of one value, that are told; what follows is seldom worth reading. */
  faultsShown: 100,
});
