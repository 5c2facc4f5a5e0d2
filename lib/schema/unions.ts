/**
 * Which of Ajv's errors belong together.
 *
 * Ajv reports a failed `anyOf` as one flat list: the errors of every alternative, then its own. Where an alternative is
 * a `$ref`, nothing tells whose error is whose. So the keyword's code is made to count errors, and its own error says
 * how many before it are its alternatives'.
 */
import { _, type Ajv, type ErrorObject, type KeywordCxt, Name } from "../deps/ajv.ts";

/** An error and, for a keyword that tries schemas, the errors of what it tried. */
export interface ErrorNode {
  readonly error: ErrorObject;
  /** The errors of each alternative of `anyOf` and `oneOf`, in order. */
  readonly alternatives?: readonly (readonly ErrorNode[])[];
  /** `oneOf`: the first two alternatives that fit, when that is the fault. */
  readonly fitting?: readonly [number, number];
}

/** What the changed keywords put into their error's `params`. */
interface Trace {
  /** How many errors before this one are its own. */
  readonly inside: number;
  /** How many of them there were after each alternative. */
  readonly ends: readonly number[];
  readonly fitting?: readonly [number, number] | number | null;
}

const TRACED = ["anyOf", "oneOf", "contains"];

// In the generated code, the number of errors so far in this function.
const ERRORS = new Name("errors");

/** Changes an instance's `anyOf`, `oneOf` and `contains` so that `groupErrors` can read its errors. */
export function traceUnions(ajv: Pick<Ajv, "getKeyword">): void {
  for (const keyword of TRACED) {
    const definition = ajv.getKeyword(keyword);
    if (typeof definition !== "object" || !("code" in definition) || definition.code === undefined) {
      throw new Error(`Ajv has no code for ${keyword}`);
    }
    const { code, error } = definition;
    const endsOf = new WeakMap<KeywordCxt, Name>();
    definition.code = (cxt, ...rest) => {
      if (keyword !== "contains") {
        const ends = cxt.gen.let("_ends", _`[]`);
        endsOf.set(cxt, ends);
        const subschema = cxt.subschema.bind(cxt);
        cxt.subschema = (...args) => {
          const made = subschema(...args);
          cxt.gen.code(_`${ends}.push(${ERRORS} - ${cxt.errsCount})`);
          return made;
        };
      }
      return code(cxt, ...rest);
    };
    definition.error = {
      message: error?.message ?? "must match",
      params: (cxt) => {
        const { errsCount, params } = cxt as KeywordCxt;
        const ends = endsOf.get(cxt as KeywordCxt) ?? _`[]`;
        const fitting = params.passing ?? _`null`;
        return _`{inside: ${ERRORS} - ${errsCount}, ends: ${ends}, fitting: ${fitting}}`;
      },
    };
  }
}

/** The errors of a validation as a forest: what an alternative reported hangs below its `anyOf`, and nowhere else. */
export function groupErrors(errors: readonly ErrorObject[], from = 0, to = errors.length): ErrorNode[] {
  const nodes: ErrorNode[] = [];
  // From the end, because an error comes after those inside it.
  for (let at = to - 1; at >= from; at--) {
    const error = errors[at]!;
    if (!TRACED.includes(error.keyword)) {
      nodes.push({ error });
      continue;
    }
    const { inside, ends, fitting } = error.params as unknown as Trace;
    const start = at - inside;
    const alternatives = ends.map((end, index) => groupErrors(errors, start + (ends[index - 1] ?? 0), start + end));
    nodes.push({ error, alternatives, ...(Array.isArray(fitting) ? { fitting: fitting as [number, number] } : {}) });
    at = start;
  }
  return nodes.reverse();
}
