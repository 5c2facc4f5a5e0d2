/** The diff guard: what the commits of a dispatch may change. It looks at commits, not at files; it is no wall. */
import { ConfigurationError, LaitError } from "../base/errors.ts";
import { checkInteger, checkKeys } from "../base/options.ts";
import { compilePathGlob } from "../tool/glob.ts";
import { type Repository, whyUnread } from "./repository.ts";

/** What the final diff must keep to. */
export interface DiffGuard {
  /**
   * Globs of files that must not change, relative to the repository's root: `*` within a name, `?` one character, `**`
   * across directories. Both names of a renamed file count. Default: none.
   */
  readonly protectedPaths?: readonly string[];
  /** How many lines may be added and deleted together; with it, binary files must not change. Default: any number. */
  readonly maxChangedLines?: number;
}

/** How a diff breaks a guard. */
export type GuardViolation =
  | { readonly kind: "protected"; readonly path: string; readonly pattern: string }
  | { readonly kind: "binary"; readonly path: string }
  | { readonly kind: "lines"; readonly changed: number; readonly limit: number };

/** One file of a diff. */
export interface ChangedFile {
  /** Its paths: one, or the old and the new one. */
  readonly paths: readonly string[];
  /** Lines added and removed; 0 for a binary file. */
  readonly added: number;
  readonly removed: number;
  readonly binary: boolean;
}

/** Refuses a guard that is none. */
export function checkGuard(what: string, guard: DiffGuard): void {
  checkKeys(what, guard, ["protectedPaths", "maxChangedLines"]);
  checkInteger(`${what}.maxChangedLines`, guard.maxChangedLines, 0);
  const { protectedPaths = [] } = guard;
  if (!Array.isArray(protectedPaths)) throw new ConfigurationError(`${what}.protectedPaths must be a list of globs`);
  for (const [index, glob] of protectedPaths.entries()) {
    const fault = globFault(glob);
    if (fault !== undefined) throw new ConfigurationError(`${what}.protectedPaths[${index}] ${fault}`);
  }
}

function globFault(glob: unknown): string | undefined {
  if (typeof glob !== "string" || glob === "") return "must be a non-empty text";
  if (glob.startsWith("/") || /^[A-Za-z]:/.test(glob)) {
    return `must be relative to the repository (got ${quoted(glob)})`;
  }
  if (glob.includes("\\") || glob.includes("\0")) return `must use \`/\` between names (got ${quoted(glob)})`;
  return glob.split("/").some((part) => part === "." || part === "..")
    ? `must not hold \`.\` or \`..\` (got ${quoted(glob)})`
    : undefined;
}

const quoted = (text: string): string => JSON.stringify(text);

/**
 * The net difference between two commits, file by file.
 *
 * @throws LaitError when Git cannot tell
 */
export async function changedFiles(
  repository: Repository,
  base: string,
  head: string,
  deadlineMs: number,
): Promise<ChangedFile[]> {
  const words = ["--no-ext-diff", "--no-textconv", "--numstat", "-z", "--find-renames", "-l0", "--no-relative"];
  const text = await repository.git("diff", [...words, base, head, "--"], { deadlineMs });
  const fields = text.split("\0");
  const files: ChangedFile[] = [];
  for (let index = 0; index < fields.length && fields[index] !== ""; index++) {
    const [added = "", removed = "", ...rest] = fields[index]!.split("\t");
    const path = rest.join("\t");
    // A renamed file has an empty path here, and its two paths behind.
    const paths = path === "" ? [fields[++index]!, fields[++index]!] : [path];
    const binary = added === "-";
    files.push({ paths, added: binary ? 0 : Number(added), removed: binary ? 0 : Number(removed), binary });
  }
  return files;
}

/** How a diff breaks a guard; nothing when it keeps to it. */
export function violationsOf(guard: DiffGuard, files: readonly ChangedFile[]): GuardViolation[] {
  const { protectedPaths = [], maxChangedLines: limit } = guard;
  const globs = protectedPaths.map((pattern) => ({ pattern, glob: compilePathGlob(pattern) }));
  const found: GuardViolation[] = files.flatMap(({ paths }) => paths).flatMap((path) => {
    const hit = globs.find(({ glob }) => glob.matches(path));
    return hit === undefined ? [] : [{ kind: "protected" as const, path, pattern: hit.pattern }];
  });
  if (limit === undefined) return found;
  found.push(
    ...files.filter(({ binary }) => binary).map(({ paths }) => ({ kind: "binary" as const, path: paths.at(-1)! })),
  );
  const changed = files.reduce((sum, { added, removed }) => sum + added + removed, 0);
  if (changed > limit) found.push({ kind: "lines", changed, limit });
  return found;
}

/**
 * Holds the difference between two commits against a guard.
 *
 * @throws LaitError `guard` when it is broken (`details.violations`, `base`, `head`) or the diff cannot be read
 */
export async function enforceGuard(
  repository: Repository,
  guard: DiffGuard,
  base: string,
  head: string,
  deadlineMs: number,
): Promise<void> {
  let violations: GuardViolation[];
  try {
    violations = violationsOf(guard, await changedFiles(repository, base, head, deadlineMs));
  } catch (error) {
    throw new LaitError("guard", `the diff guard cannot read ${base}..${head}: ${whyUnread(error)}`, {
      cause: error,
      details: { violations: [], base, head },
    });
  }
  if (violations.length === 0) return;
  const said = violations.slice(0, 5).map(violationText).join("; ");
  const more = violations.length > 5 ? `; and ${violations.length - 5} more` : "";
  throw new LaitError("guard", `the diff guard refuses the commits: ${said}${more}`, {
    details: { violations, base, head },
  });
}

function violationText(violation: GuardViolation): string {
  switch (violation.kind) {
    case "protected":
      return `${violation.path} is protected by ${quoted(violation.pattern)}`;
    case "binary":
      return `${violation.path} is binary, so its lines cannot be counted`;
    case "lines":
      return `${violation.changed} lines changed, and ${violation.limit} may`;
  }
}
