/** Evaluating an expression to its one value. */
import { formatPlace } from "../../base/diagnostic.ts";
import { LaitError, LimitError, messageOf } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import { JqError, JqLimitError } from "../../jq/jq.ts";
import type { Expression } from "../definition.ts";

/** Values of the globals. */
export type ExpressionGlobals = Readonly<Record<string, JsonValue>>;

/**
 * The one value of an expression.
 *
 * @throws LaitError when it fails, or gives none or several; the signal's reason when it aborts
 */
export function evaluate(
  expression: Expression,
  input: JsonValue,
  globals: ExpressionGlobals,
  signal: AbortSignal,
): JsonValue | Promise<JsonValue> {
  // Those that it does not read need not be measured.
  const used = Object.fromEntries(expression.globals.map((name) => [name, globals[name]!]));
  try {
    const outputs = expression.program.collect(input, used, { signal, most: 2 });
    if (Array.isArray(outputs)) return single(expression, outputs);
    return outputs.then(
      (found) => single(expression, found),
      (error) => {
        throw explained(expression, error, signal);
      },
    );
  } catch (error) {
    throw explained(expression, error, signal);
  }
}

function single(expression: Expression, outputs: readonly JsonValue[]): JsonValue {
  if (outputs.length === 1) return outputs[0]!;
  throw outputs.length === 0
    ? failure(
      expression,
      "the expression produced no output; it must produce one",
      "wrap it in [...], or use `// null`",
    )
    : failure(expression, "the expression produced 2 outputs or more; it must produce one", "wrap it in [...]");
}

function failure(expression: Expression, message: string, hint?: string, cause?: unknown): LaitError {
  const place = expression.place === undefined ? "" : ` (${formatPlace(expression.place)})`;
  const advice = hint === undefined ? "" : `; ${hint}`;
  return new LaitError("tool", `${message}${advice}${place}`, cause === undefined ? {} : { cause });
}

function explained(expression: Expression, error: unknown, signal: AbortSignal): unknown {
  if (error instanceof LaitError || signal.aborted) return error;
  if (error instanceof JqLimitError) return new LimitError(error.limit, failure(expression, error.message).message);
  if (error instanceof JqError) return failure(expression, error.message, undefined, error);
  return failure(expression, messageOf(error), undefined, error);
}
