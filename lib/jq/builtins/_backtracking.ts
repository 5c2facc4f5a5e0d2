/** Patterns for JavaScript's own engine, which goes back and forth: how long it may take has to be known before. */

/** Steps that a search may take: some hundred milliseconds. */
const MOST_STEPS = 20_000_000;

/** The most characters that any such pattern is tried on. */
const MOST_CHARACTERS = 100_000;

interface Level {
  /** How many repetitions without end stand behind one another in it; those of a look-around count apart. */
  repeats: number;
  /** Ways to choose, which can be combined. */
  choices: number;
  readonly isLook: boolean;
  /** The most repetitions of the look-arounds in it. */
  look: number;
}

const TOKENS = /\\[^]|\[\^?(?:\\[^]|[^\]\\])*\]|\((?:\?(?:<?[=!]|:|<\w+>))?|\)|\||[*+?]|\{\d+(,?)\d*\}/g;

/**
 * The longest text that a pattern may be used on: a text of n characters takes n to the power of the repetitions in
 * the pattern, and one more, as a match can start anywhere.
 *
 * @throws Error for repetition within repetition, which can take for ever
 */
export function mostCharacters(source: string): number {
  const root: Level = { repeats: 0, choices: 0, isLook: false, look: 0 };
  const open: Level[] = [root];
  let closed: Level | undefined;
  let before = "";
  for (const [token, comma] of source.matchAll(TOKENS)) {
    const level = open.at(-1)!;
    const inside = closed;
    closed = undefined;
    if (token === ")") {
      closed = open.pop();
      if (closed === undefined || open.length === 0) throw new Error(": unmatched )");
      const outer = open.at(-1)!;
      outer.look = Math.max(outer.look, closed.look, closed.isLook ? closed.repeats : 0);
      outer.choices += closed.choices;
      if (!closed.isLook) outer.repeats += closed.repeats;
    } else if (token.startsWith("(")) {
      open.push({ repeats: 0, choices: 0, isLook: /[=!]$/.test(token), look: 0 });
    } else if (token === "|") level.choices++;
    else if (token === "?") {
      // Behind another repetition it only says which way to go first.
      if (!/^(?:[*+?]|\{.*)$/.test(before)) level.choices++;
    } else if (token === "*" || token === "+" || token.startsWith("{")) {
      if (inside !== undefined && !inside.isLook && inside.repeats + inside.choices > 0) {
        throw new Error(": look-around and back-references cannot be used with repetition within repetition");
      }
      if (comma !== "" || !token.startsWith("{")) level.repeats++;
    }
    before = token;
  }
  const power = root.repeats + root.look + 1;
  return Math.floor(Math.min(MOST_CHARACTERS, (MOST_STEPS / 2 ** root.choices) ** (1 / power)));
}

/** A pattern of Oniguruma as JavaScript writes it. */
export function forJavaScript(source: string): string {
  return source.replace(/\[\^?(?:\\[^]|[^\]\\])*\]|\\[^]|\$/g, (part) => {
    if (part === "$" || part === "\\Z") return "(?=\\n?$(?![^]))";
    if (part === "\\A") return "(?<![^])";
    if (part === "\\z") return "(?![^])";
    return part;
  });
}
