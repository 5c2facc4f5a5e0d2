/**
 * Globs, anchored and case-sensitive. `**` is anything, `**` with a slash behind it zero or more directories, `?` one
 * character that is no slash, everything else stands for itself. `*` is a run without slashes in a path glob, and any
 * run at all in a text glob (tool names, commands).
 *
 * Matching follows all possibilities at once instead of trying them one after the other: its time is bounded by the
 * length of the text times that of the pattern, whatever a model or a rule puts into them.
 */

/** A pattern that is ready to be asked. */
export interface Glob {
  /** Whether the whole text fits. */
  matches(text: string): boolean;
}

/** One step of a pattern: a character, or a run. `directories` comes with a `within` behind it. */
type Step = string | { readonly kind: "one" | "run" | "any" | "directories" | "within" };

const ONE = { kind: "one" } as const;
const RUN = { kind: "run" } as const;
const ANY = { kind: "any" } as const;
const DIRECTORIES = [{ kind: "directories" }, { kind: "within" }] as const;

/** A glob over paths: `*` stops at a slash. */
export function compilePathGlob(pattern: string): Glob {
  return compile(pattern, RUN);
}

/** A glob over texts: `*` stops nowhere. */
export function compileTextGlob(pattern: string): Glob {
  return compile(pattern, ANY);
}

/** A glob over the paths of files: one without a slash is about the file's name, at any depth. */
export function compileFileGlob(pattern: string): Glob {
  const glob = compilePathGlob(pattern);
  if (pattern.includes("/")) return glob;
  return Object.freeze({ matches: (path: string) => glob.matches(path.slice(path.lastIndexOf("/") + 1)) });
}

function compile(pattern: string, star: Step): Glob {
  const steps: Step[] = [];
  const characters = [...pattern];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index]!;
    if (character === "?") steps.push(ONE);
    else if (character !== "*") steps.push(character);
    else if (characters[index + 1] !== "*") steps.push(star);
    else if (characters[index + 2] !== "/") {
      steps.push(ANY);
      index += 1;
    } else {
      steps.push(...DIRECTORIES);
      index += 2;
    }
  }
  return Object.freeze({ matches: (text: string) => fits(steps, text) });
}

function fits(steps: readonly Step[], text: string): boolean {
  let reached = new Uint8Array(steps.length + 1);
  let next = new Uint8Array(steps.length + 1);
  reached[0] = 1;
  skipEmpty(steps, reached);
  for (const character of text) {
    next.fill(0);
    for (const [index, step] of steps.entries()) {
      if (reached[index] === 1) advance(step, index, character, next);
    }
    skipEmpty(steps, next);
    [reached, next] = [next, reached];
  }
  return reached[steps.length] === 1;
}

function advance(step: Step, index: number, character: string, next: Uint8Array): void {
  if (typeof step === "string") {
    if (step === character) next[index + 1] = 1;
  } else if (step.kind === "one") {
    if (character !== "/") next[index + 1] = 1;
  } else if (step.kind === "run") {
    if (character !== "/") next[index] = 1;
  } else if (step.kind === "any") {
    next[index] = 1;
  } else if (step.kind === "within") {
    next[index] = 1;
    if (character === "/") next[index + 1] = 1;
  }
}

/** Marks what is reached without a character, from left to right: an empty run, and no directory at all. */
function skipEmpty(steps: readonly Step[], reached: Uint8Array): void {
  for (const [index, step] of steps.entries()) {
    if (reached[index] === 0 || typeof step === "string") continue;
    if (step.kind === "run" || step.kind === "any") reached[index + 1] = 1;
    if (step.kind === "directories") reached[index + 1] = reached[index + 2] = 1;
  }
}
