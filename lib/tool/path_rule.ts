/**
 * Where a path that a model gives may lead: into the sandbox's root and nowhere else, links counted. What is there is
 * asked of the sandbox, because its files may not be this machine's.
 */
import { ToolFailure } from "../base/errors.ts";
import type { SandboxLease } from "../sandbox/lease.ts";

/**
 * A path relative to the root without `.`, `..` and empty segments, `\` being a separator; `.` for the root itself.
 * Undefined when the path is absolute or climbs above the root.
 */
export function normalizePath(path: string): string | undefined {
  const slashed = path.replaceAll("\\", "/");
  if (slashed.startsWith("/") || /^[A-Za-z]:\//.test(slashed)) return undefined;
  const segments: string[] = [];
  for (const segment of slashed.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined) return undefined;
  }
  return segments.join("/") || ".";
}

/**
 * The normalized form of a path.
 *
 * @throws ToolFailure naming the path when it leads outside the root
 */
export function pathWithinRoot(path: string): string {
  const normal = normalizePath(path);
  if (normal === undefined) {
    throw new ToolFailure(
      `the path ${
        JSON.stringify(path)
      } leads outside the repository; give one relative to its root, without climbing above it`,
    );
  }
  // A program cannot be given a NUL, and the walk below uses the other as its mark.
  // deno-lint-ignore no-control-regex
  if (/[\0\x01]/.test(normal)) {
    throw new ToolFailure(`the path ${JSON.stringify(path)} holds a control character that no path may have here`);
  }
  return normal;
}

/** What a path leads to. */
export interface Located {
  /** The path as it was asked for, normalized. */
  readonly path: string;
  /** The absolute path with all links followed, as the sandbox sees it. What is missing is appended as it stands. */
  readonly real: string;
  /** The same relative to the root; `.` for the root itself. */
  readonly relative: string;
  /** What is there once links are followed. */
  readonly kind: "file" | "directory" | "special" | "missing";
  /** Whether a link was followed on the way. */
  readonly linked: boolean;
  /** Whether the path itself names a link. */
  readonly isLink: boolean;
  /** Whether a file has more bytes than the limit that was given. */
  readonly tooLarge: boolean;
}

// POSIX sh; the only program besides the shell's own is readlink (and find for the size). $1 is the limit in bytes or empty,
// the paths follow, relative and normalized. For each it walks segment by segment as the kernel would. Behind a link's
// target it puts a mark (the byte 1): when the walk comes there, the link has led somewhere, and that must be inside.
// Command substitution eats line feeds at the end of a name, hence the `x` behind each.
export const WALK = String.raw`
nl='
'
mark=$(printf '\001')
limit=$1; shift
root=$(pwd -P && printf x) || exit 1
root=${"$"}{root%"$nl"x}
base=$root; [ "$base" = / ] && base=
printf '%s\0' "$root"
inside() { case $1 in "$root"|"$base"/*) return 0;; esac; return 1; }
locate() {
  rest=$1 at=$base hops=0 linked=n
  while [ -n "$rest" ]; do
    segment=${"$"}{rest%%/*}
    case $rest in */*) rest=${"$"}{rest#*/};; *) rest=;; esac
    case $segment in
      ''|.) continue;;
      ..) at=${"$"}{at%/*}; continue;;
      "$mark") inside "$at" || { state=outside; return; }; continue;;
    esac
    next=$at/$segment
    if [ -L "$next" ]; then
      linked=y hops=$((hops + 1))
      [ "$hops" -le 40 ] || { state=loop; return; }
      target=$(readlink "$next" && printf x) || { state=unreadable; return; }
      target=${"$"}{target%"$nl"x}
      case $target in *"$mark"*) state=outside; return;; /*) at=;; esac
      rest=$target/$mark/$rest
    else
      at=$next
      if [ -n "$rest" ] && [ -e "$at" ] && [ ! -d "$at" ]; then
        case $rest in "$mark"|"$mark"/) ;; *) state=blocked; return;; esac
      fi
    fi
  done
  inside "$at" || { [ -z "$at" ] && [ "$root" = / ]; } || { state=outside; return; }
  if [ -d "$at" ]; then state=directory
  elif [ -f "$at" ]; then state=file
  elif [ -e "$at" ]; then state=special
  else state=missing
  fi
}
for path do
  locate "$path"
  itself=n; [ -L "./$path" ] && itself=y
  large=n
  [ -n "$limit" ] && [ "$state" = file ] && [ -n "$(find "$at" -prune -size +"$limit"c 2>/dev/null)" ] && large=y
  printf '%s\0%s\0%s\0%s\0%s\0' "$state" "$linked" "$itself" "$large" "$at"
done
`;

/** Paths in one question; a command line has its bounds. */
const PATHS_AT_ONCE = 200;

/**
 * Asks the sandbox where paths lead. The answer of a path that leads outside the root, by itself or by any link on the
 * way, is `outside`.
 *
 * @param paths normalized
 * @throws ToolFailure when the sandbox cannot tell
 */
export async function locateAll(
  sandbox: SandboxLease,
  paths: readonly string[],
  options: { readonly signal?: AbortSignal; readonly maxBytes?: number } = {},
): Promise<(Located | { readonly path: string; readonly kind: Refusal })[]> {
  const found: (Located | { readonly path: string; readonly kind: Refusal })[] = [];
  for (let from = 0; from < paths.length; from += PATHS_AT_ONCE) {
    const some = paths.slice(from, from + PATHS_AT_ONCE);
    const { status, stdout, stderr } = await sandbox.invoke({
      executable: "sh",
      arguments: ["-c", WALK, "sh", String(options.maxBytes ?? ""), ...some],
      variables: { LC_ALL: "C" },
      quiet: true,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const [root = "", ...fields] = stdout.split("\0");
    if (status !== 0 || fields.length !== some.length * 5 + 1) {
      throw new ToolFailure(`the sandbox cannot tell where ${JSON.stringify(some[0])} leads: ${stderr.trim()}`);
    }
    some.forEach((path, index) => found.push(located(root, path, fields.slice(index * 5, index * 5 + 5))));
  }
  return found;
}

/** Why a path leads to nothing that may be used. */
export type Refusal = "outside" | "loop" | "blocked" | "unreadable";

const REFUSALS: Readonly<Record<Refusal, string>> = Object.freeze({
  outside: "leads outside the repository through a link",
  loop: "is a loop of links",
  blocked: "goes through something that is not a directory",
  unreadable: "goes through a link that cannot be read",
});

function located(
  root: string,
  path: string,
  [state = "", linked, isLink, large, at = ""]: readonly string[],
): Located | { readonly path: string; readonly kind: Refusal } {
  if (Object.hasOwn(REFUSALS, state)) return { path, kind: state as Refusal };
  const real = at === "" ? "/" : at;
  const relative = real === root ? "." : real.slice(root === "/" ? 1 : root.length + 1);
  return {
    path,
    real,
    relative,
    kind: state as Located["kind"],
    linked: linked === "y",
    isLink: isLink === "y",
    tooLarge: large === "y",
  };
}

/** Whether an answer of {@link locateAll} is a place within the root. */
export function isLocated(answer: Located | { readonly kind: Refusal }): answer is Located {
  return "real" in answer;
}

/**
 * Where one path leads.
 *
 * @throws ToolFailure naming the path when it is refused
 */
export async function locate(
  sandbox: SandboxLease,
  path: string,
  options: { readonly signal?: AbortSignal; readonly maxBytes?: number } = {},
): Promise<Located> {
  const [answer] = await locateAll(sandbox, [pathWithinRoot(path)], options);
  if (answer !== undefined && isLocated(answer)) return answer;
  throw new ToolFailure(`the path ${JSON.stringify(path)} ${REFUSALS[answer?.kind ?? "unreadable"]}`);
}

// What file systems that fold case, ignore characters or know short names take for `.git`.
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const GIT_FOLDER = /^(?:\.git|git~\d+)(?:[. ]*|:.*)$/;

/** Whether a path has a segment that is, or that some file system takes for, `.git`. */
export function goesIntoGit(path: string): boolean {
  return path.split("/").some((segment) => GIT_FOLDER.test(segment.replace(IGNORED, "").toLowerCase()));
}
