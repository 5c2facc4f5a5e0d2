/**
 * Every error that lait throws on purpose. One class per thing a caller can act on; each carries facts.
 *
 * How to write one: the message starts with what failed, then what was expected and what was found, then what to do.
 * It starts lower-case, because it is printed behind `lait: `, and ends without a period. `cause` is kept.
 * Exit codes are decided from these classes in one place, `lib/cli/exit.ts`.
 */
import type { Diagnostic } from "./diagnostic.ts";
import { formatDiagnostic } from "./diagnostic.ts";

/** What went wrong, for programs; see each error class. */
export type ErrorCode =
  | "configuration"
  | "usage"
  | "file"
  | "limit"
  | "response"
  | "timeout"
  | "aborted"
  | "provider"
  | "quota"
  | "process"
  | "mcp"
  | "tool"
  | "session"
  | "conflict"
  | "steering"
  | "stuck"
  | "guard"
  | "workspace"
  | "prompt";

/** Options that every error takes. */
export interface LaitErrorOptions {
  /** The error underneath. */
  cause?: unknown;
  /** Facts for programs; plain data. */
  details?: Readonly<Record<string, unknown>>;
}

/** The base of every error of lait. */
export class LaitError extends Error {
  /** The kind of failure, stable across versions. */
  readonly code: ErrorCode;
  /** Facts for programs. */
  readonly details: Readonly<Record<string, unknown>>;
  /** What of the work can be gone on with; set by whoever did the work, see `recoveryDetails`. */
  declare recovery?: Readonly<Record<string, unknown>>;

  /** Creates an error of the given kind. */
  constructor(code: ErrorCode, message: string, options: LaitErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.details = Object.freeze({ ...options.details });
  }
}

/** A definition, an option or a setting is wrong. Nothing has run yet. */
export class ConfigurationError extends LaitError {
  /** Creates the error. */
  constructor(message: string, options?: LaitErrorOptions) {
    super("configuration", message, options);
  }
}

/** The command line is wrong (exit code 2). */
export class UsageError extends LaitError {
  /** What to do about it, printed on a line of its own. */
  readonly hint: string | undefined;

  /** Creates the error; `hint` says what to do. */
  constructor(message: string, hint?: string) {
    super("usage", message);
    this.hint = hint;
  }
}

/** A file that people write has faults; each has a place. Reported all at once (exit code 3). */
export class DiagnosticError extends LaitError {
  /** The faults, in file order; at least one. */
  readonly diagnostics: readonly Diagnostic[];
  /** Whether the file reads well and only what it says does not go together (exit code 1). */
  readonly structural: boolean;

  /** Creates the error from at least one diagnostic. */
  constructor(diagnostics: readonly Diagnostic[], options: { readonly structural?: boolean } = {}) {
    super("file", diagnostics.map(formatDiagnostic).join("\n"));
    this.diagnostics = Object.freeze([...diagnostics]);
    this.structural = options.structural ?? false;
  }
}

/** A value of a file is wrong for what is being done with it now; found when it was used (exit code 1). */
export class SettingError extends LaitError {
  /** The fault and its place, where one is known. */
  readonly diagnostic: Diagnostic;

  /** Creates the error from the diagnostic that explains it. */
  constructor(diagnostic: Diagnostic, options?: LaitErrorOptions) {
    super("configuration", formatDiagnostic(diagnostic), options);
    this.diagnostic = diagnostic;
  }
}

/** A file could not be read or written. */
export class FileError extends LaitError {
  /** Creates the error. */
  constructor(message: string, options?: LaitErrorOptions) {
    super("file", message, options);
  }
}

/** A limit of the run was reached; `details.limit` names it. */
export class LimitError extends LaitError {
  /** Creates the error for the limit called `limit`. */
  constructor(limit: string, message: string, options: LaitErrorOptions = {}) {
    super("limit", message, { ...options, details: { ...options.details, limit } });
  }
}

/** The model answered, but with nothing that can be used. */
export class ResponseError extends LaitError {
  /** Creates the error. */
  constructor(message: string, options?: LaitErrorOptions) {
    super("response", message, options);
  }
}

/**
 * The model server could not be reached, refused the request, or sent something that is no answer (exit code 4).
 * `details.status` is the HTTP status when there was one; 429 has the code `quota`, with `details.retryAfterMs` when
 * the server said when to come back.
 */
export class ModelError extends LaitError {
  /** Creates the error; `code` is `provider` unless given. */
  constructor(
    message: string,
    options: LaitErrorOptions & { code?: "provider" | "quota" | "response" | "timeout" } = {},
  ) {
    super(options.code ?? "provider", message, options);
  }
}

/** Something took longer than it may. */
export class TimeoutError extends LaitError {
  /** Creates the error. */
  constructor(message: string, options?: LaitErrorOptions) {
    super("timeout", message, options);
  }
}

/** The run was cancelled; `cause` is the reason given to the abort signal. */
export class CancelledError extends LaitError {
  /** Creates the error for an abort signal's reason. */
  constructor(reason?: unknown) {
    super("aborted", "cancelled", reason === undefined ? {} : { cause: reason });
  }
}

/**
 * An MCP server could not be started or reached, has ended, or sent what is no MCP; `details.server` names it. The code
 * is `process` for a program that ended, `response` for what a server sent, `mcp` for a connection.
 */
export class McpServerError extends LaitError {
  /** Creates the error for a server. */
  constructor(
    code: "process" | "response" | "mcp",
    server: string,
    message: string,
    options: LaitErrorOptions = {},
  ) {
    super(code, message, { ...options, details: { ...options.details, server } });
  }
}

/** Something failed within something else: the message names the outer one, `cause` is the error, whose code it has. */
export class ContextError extends LaitError {
  /** Creates the error; `where` is what failed, such as `agent 'a.md'`. */
  constructor(where: string, cause: unknown) {
    super(cause instanceof LaitError ? cause.code : "tool", where, { cause });
  }
}

/** What a failed command had written before it ended. */
export interface PartialOutput {
  /** Standard output until then; bytes that are not UTF-8 are replaced. */
  readonly stdout: string;
  /** Standard error until then. */
  readonly stderr: string;
}

/** A program could not be started, did not end in time, or wrote too much; `details.kind` says which. */
export class ProcessError extends LaitError {
  /** Which of these it was. */
  readonly kind: "spawn" | "timeout" | "overflow";
  /** What the command had written until it was ended; empty when it never started. */
  readonly output: PartialOutput;

  /** Creates the error. */
  constructor(
    kind: ProcessError["kind"],
    message: string,
    options: LaitErrorOptions & { output?: PartialOutput } = {},
  ) {
    super(kind === "timeout" ? "timeout" : "process", message, { ...options, details: { ...options.details, kind } });
    this.kind = kind;
    this.output = options.output ?? { stdout: "", stderr: "" };
  }
}

/**
 * A tool failed. Thrown by a tool's `execute`, its message goes back to the model; with `fatal` it ends the whole run
 * and stops the calls beside it.
 */
export class ToolFailure extends LaitError {
  /** Whether the run ends. */
  readonly fatal: boolean;

  /** Creates the failure; `fatal` is false unless given. */
  constructor(message: string, options: LaitErrorOptions & { fatal?: boolean } = {}) {
    super("tool", message, options);
    this.fatal = options.fatal ?? false;
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * The messages of an error and its causes, joined with `: `. An error of lait's own has said in its message what the
 * operating system or a library told it, so below one only others of lait's own are added.
 */
export function messageChain(error: unknown): string {
  const parts: string[] = [];
  let own = false;
  for (let current = error; current !== undefined && parts.length < 40;) {
    if (own && !(current instanceof LaitError)) break;
    const message = messageOf(current);
    if (message !== "" && !parts.some((part) => part.includes(message))) parts.push(message);
    own = current instanceof LaitError;
    current = current instanceof Error ? current.cause : undefined;
  }
  return parts.join(": ");
}
