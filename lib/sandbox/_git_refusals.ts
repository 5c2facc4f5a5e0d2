/** Arguments that a reading Git command must not be given. */

/** Options that write a file, start a program, or look at files outside: whatever begins like this. */
const FORBIDDEN: readonly string[] = Object.freeze([
  "--output",
  "--ext-diff",
  "--textconv",
  "--open-files-in-pager",
  "--show-signature",
  "--no-index",
  "--remerge-diff",
]);

/** Options that are whole, although they begin like a forbidden one that was cut short. */
const WHOLE: readonly string[] = Object.freeze(["--text"]);

/**
 * Why the arguments are refused; undefined when they may be given to Git.
 *
 * Refused are options that write (`--output…`), start programs (`--ext-diff`, `--textconv`, `--open-files-in-pager`,
 * `--show-signature`, `%G` in a format, `--remerge-diff`, looking into submodules, `status -v`), read files that Git
 * does not look after (`-O…`, `--no-index`), also cut short, and paths that are absolute or hold a `..`.
 */
export function refuseGitArguments(command: string, args: readonly string[]): string | undefined {
  const rest = args.indexOf("--");
  for (const [index, arg] of args.entries()) {
    const reason = isOption(arg) && (rest < 0 || index < rest || begins(arg))
      ? refuseOption(command, arg, args[index + 1])
      : refusePath(arg);
    if (reason !== undefined) return `git ${command}: the argument ${JSON.stringify(arg)} is refused: ${reason}`;
  }
  return undefined;
}

/** Whether an argument is an option. */
function isOption(arg: string): boolean {
  return arg.length > 1 && arg.startsWith("-");
}

/** The forbidden option that an argument begins with, or that it cuts short. */
function begins(arg: string): string | undefined {
  const name = arg.split("=", 1)[0]!;
  return FORBIDDEN.find((one) =>
    arg.startsWith(one) || (name.length > 3 && one.startsWith(name) && !WHOLE.includes(name))
  );
}

function refuseOption(command: string, arg: string, next: string | undefined): string | undefined {
  if (arg.includes("\0")) return "it holds a NUL";
  const forbidden = begins(arg);
  if (forbidden !== undefined) return `${forbidden} is not allowed`;
  // Short options can stand behind one dash; those before the O take no value.
  if (/^-[a-zDEFPRW0-9]*O/.test(arg)) return "-O is not allowed";
  if (/%[-+ ]?G/.test(arg)) return "the signature formats %G… are not allowed";
  if (command === "status" && (/^-[^-]*v/.test(arg) || arg.startsWith("--v"))) return "--verbose is not allowed";
  const [name = "", value = next] = arg.split("=");
  if (isShort(name, "--submodule", 4) && value?.startsWith("d") && arg.includes("=")) {
    return "submodules are not looked into";
  }
  if (isShort(name, "--ignore-submodules", 10) && arg.includes("=") && !/^(all|dirty)$/.test(value ?? "")) {
    return "submodules are not looked into";
  }
  if (isShort(name, "--diff-merges", 9) && /^r/.test(value ?? "")) return "--remerge-diff is not allowed";
  return undefined;
}

/** Whether an option's name is another one's, or the other one's beginning. */
function isShort(name: string, whole: string, atLeast: number): boolean {
  return name.length >= atLeast && whole.startsWith(name);
}

function refusePath(arg: string): string | undefined {
  if (arg.includes("\0")) return "it holds a NUL";
  if (/%[-+ ]?G/.test(arg)) return "the signature formats %G… are not allowed";
  const slashed = arg.replaceAll("\\", "/").replace(/^:(?:\([^)]*\)|[!^]+)/, "");
  if (slashed.startsWith("/") || /^[A-Za-z]:\//.test(slashed)) return "it is an absolute path";
  // Also behind the colon of `HEAD:../file`. Within a segment two dots make a range: `main..next`.
  if (slashed.split(/[/:]/).includes("..")) return "it climbs with `..`";
  return undefined;
}
