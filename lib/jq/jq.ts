/**
 * jq: expressions over JSON values.
 *
 * An expression is compiled once and evaluated as often as wanted. An evaluation never blocks for long, ends when it is
 * told to, and keeps to limits. What differs from the jq command stands in `README.md`.
 *
 * @example
 * ```ts
 * import { compile } from "./jq.ts";
 * const program = compile("[.rows[] | select(.n > $least) | .id]", { globals: ["least"] });
 * const [ids] = await program.collect({ rows: [{ id: "a", n: 1 }, { id: "b", n: 3 }] }, { least: 2 });
 * console.assert(JSON.stringify(ids) === '["b"]');
 * ```
 */
import type { JsonValue } from "../base/json.ts";
import type { JqNode } from "./ast.ts";
import { Compiler } from "./compile/compiler.ts";
import { LANGUAGE, LANGUAGE_WITH_INPUTS } from "./compile/language.ts";
import { FunctionScope, type Scope, withName } from "./compile/scope.ts";
import { JqLimitError } from "./errors.ts";
import { evaluateAll, evaluateEach, evaluateNow, type EvaluateOptions, type Prepared } from "./evaluate.ts";
import { JQ_LIMITS, type JqLimits } from "./limits.ts";
import { parse } from "./parser/parser.ts";
import { type JqReference, referencesOf } from "./references.ts";

export type { JqNode } from "./ast.ts";
export { JqCompileError, JqError, JqLimitError, type JqPlace, JqSyntaxError } from "./errors.ts";
export type { EvaluateOptions } from "./evaluate.ts";
export type { InputSource } from "./machine/work.ts";
export { JQ_LIMITS, type JqLimits } from "./limits.ts";
export type { JqReference } from "./references.ts";

/** How an expression is compiled. */
export interface CompileOptions {
  /** Names, without `$`, of the variables that every evaluation gives values to. Default: none. */
  readonly globals?: readonly string[];
  /** Whether there are `input` and `inputs`, see `EvaluateOptions.inputs`. Default: false. */
  readonly inputs?: boolean;
  /** Limits, for the source and as defaults for evaluations. Default: `JQ_LIMITS`. */
  readonly limits?: Partial<JqLimits>;
}

/** Values of the globals by name; one that is missing is null. */
export type Globals = Readonly<Record<string, JsonValue>>;

/** A compiled expression. */
export interface JqProgram {
  /** The syntax tree. */
  readonly ast: JqNode;
  /** The globals that the expression reads, and which parts of them, in the order of the source. */
  readonly references: readonly JqReference[];
  /**
   * The outputs, one at a time; nothing is computed ahead. Gives way to others every few milliseconds.
   *
   * Iterating throws JqError when the expression fails, JqLimitError when it reaches a limit, and the signal's reason
   * when that aborts.
   */
  evaluate(input: JsonValue, globals?: Globals, options?: EvaluateOptions): AsyncIterable<JsonValue>;
  /**
   * All outputs, or the first `most` of them. An array, not a promise, when that took only a moment.
   *
   * Throws, or rejects, as `evaluate` does.
   */
  collect(
    input: JsonValue,
    globals?: Globals,
    options?: EvaluateOptions & { readonly most?: number },
  ): JsonValue[] | Promise<JsonValue[]>;
  /**
   * The outputs, one at a time, without giving way: for where nobody else waits. `milliseconds` of the limits holds, a
   * signal does not.
   */
  evaluateSync(
    input: JsonValue,
    globals?: Globals,
    options?: Pick<EvaluateOptions, "limits">,
  ): Generator<JsonValue, void, undefined>;
}

/**
 * Compiles an expression.
 *
 * @throws JqSyntaxError when it is none, JqCompileError for names that do not exist (both with line and column),
 * JqLimitError when it is too long or too deeply nested
 */
export function compile(source: string, options: CompileOptions = {}): JqProgram {
  const limits: JqLimits = { ...JQ_LIMITS, ...options.limits };
  const ast = parse(source, limits);
  const globals = options.globals ?? [];
  const owner = new FunctionScope(0);
  let scope: Scope = { owner, names: undefined };
  for (const name of globals) scope = withName(scope, { kind: "variable", name, slot: owner.slot() });
  const compiler = new Compiler(options.inputs === true ? LANGUAGE_WITH_INPUTS : LANGUAGE);
  let prepared: Prepared;
  try {
    const entry = compiler.program(ast, scope);
    prepared = { code: compiler.code, entry, owner, globals, limits };
  } catch (error) {
    if (error instanceof RangeError) throw new JqLimitError("sourceDepth", "the expression is nested too deeply");
    throw error;
  }
  return Object.freeze({
    ast,
    references: referencesOf(ast, globals),
    evaluate: (input: JsonValue, values?: Globals, how?: EvaluateOptions) => evaluateEach(prepared, input, values, how),
    collect: (input: JsonValue, values?: Globals, how?: EvaluateOptions & { readonly most?: number }) =>
      evaluateAll(prepared, input, values, how),
    evaluateSync: (input: JsonValue, values?: Globals, how?: Pick<EvaluateOptions, "limits">) =>
      evaluateNow(prepared, input, values, how),
  });
}
