/** jq expressions and templates of a workflow file: compiled when it is read, so that their faults have places. */
import type { Diagnostic, Place } from "../../base/diagnostic.ts";
import { DiagnosticError } from "../../base/errors.ts";
import { compile, JqLimitError, JqSyntaxError } from "../../jq/jq.ts";
import { parseTemplate, type Template } from "../../source/template/template.ts";
import { placeInText, type TextPlace } from "../../source/text_place.ts";
import type { Expression } from "../definition.ts";

/** What every expression may read. */
export const GLOBALS: readonly string[] = ["steps", "inputs", "loop"];

/** A compiled expression, or its fault. */
export function compileExpression(source: string, origin: TextPlace, field: string): Expression | Diagnostic {
  try {
    const program = compile(source, { globals: GLOBALS });
    const globals = [...new Set(program.references.map(({ name }) => name))];
    return Object.freeze({ source, place: origin, program, globals });
  } catch (error) {
    if (!(error instanceof JqSyntaxError || error instanceof JqLimitError)) throw error;
    const place: Place = error instanceof JqSyntaxError
      ? placeInText(origin, source, { line: error.line, column: error.column }) ?? origin
      : origin;
    return { id: "jq", severity: "error", place, message: `\`${field}\` is no jq expression: ${error.message}` };
  }
}

/** A template, or its faults. */
export function compileTemplate(source: string, origin: TextPlace): Template | readonly Diagnostic[] {
  try {
    return parseTemplate(source, origin);
  } catch (error) {
    if (!(error instanceof DiagnosticError)) throw error;
    return error.diagnostics;
  }
}
