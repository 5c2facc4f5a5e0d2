/** Finding the program that a command names, as the child would, before Deno can find another. */
import { delimiter, isAbsolute, join, resolve } from "../deps/path.ts";
import { ProcessError } from "../base/errors.ts";

/** Where a program is looked for. */
export interface ProgramSearch {
  /** The child's `PATH`; undefined when its environment has none. */
  readonly path: string | undefined;
  /** What a relative path is relative to: lait's current directory. */
  readonly directory: string;
}

function suffixes(): readonly string[] {
  if (Deno.build.os !== "windows") return [""];
  return ["", ...(Deno.env.get("PATHEXT") ?? ".COM;.EXE;.BAT;.CMD").split(";")];
}

/**
 * `yes` for a file that may be executed; `unknown` when lait may not look but may run anything; `hidden` when it may do
 * neither.
 */
async function isProgram(path: string): Promise<"yes" | "no" | "unknown" | "hidden"> {
  try {
    const info = await Deno.stat(path);
    return info.isFile && (info.mode === null || (info.mode & 0o111) !== 0) ? "yes" : "no";
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return await mayRun(path);
    return "no";
  }
}

/** With a narrowed --allow-run, Deno has resolved the listed programs itself: a path it grants is one of them. */
async function mayRun(path: string): Promise<"yes" | "unknown" | "hidden"> {
  const all = await Deno.permissions.query({ name: "run" });
  if (all.state === "granted") return "unknown";
  const one = await Deno.permissions.query({ name: "run", command: path });
  return one.state === "granted" ? "yes" : "hidden";
}

/**
 * The absolute paths at which a program may be, to be tried in order; one where lait may look. A name without a separator is
 * searched in the child's `PATH` only; a relative path is taken from `search.directory`.
 *
 * @throws ProcessError of kind `spawn`, naming the program, when there is none
 */
export async function findProgram(name: string, search: ProgramSearch): Promise<readonly string[]> {
  if (name === "") throw new ProcessError("spawn", "cannot start a program without a name: the first word is empty");
  if (name.includes("/") || (Deno.build.os === "windows" && name.includes("\\"))) {
    const path = isAbsolute(name) ? name : resolve(search.directory, name);
    // What is there but is no program gets the operating system's own message when it is started.
    return [path];
  }
  if (search.path === undefined) {
    throw new ProcessError(
      "spawn",
      `cannot find the program \`${name}\`: its environment has no PATH; list PATH in \`env\`, or give an absolute path`,
      { details: { program: name } },
    );
  }
  const possible: string[] = [];
  let hidden = false;
  for (const folder of search.path.split(delimiter)) {
    for (const suffix of suffixes()) {
      const candidate = join(resolve(search.directory, folder === "" ? "." : folder), name + suffix);
      const found = await isProgram(candidate);
      if (found === "yes") return [...possible, candidate];
      if (found === "unknown") possible.push(candidate);
      hidden ||= found === "hidden";
    }
  }
  if (possible.length > 0) return possible;
  const why = hidden
    ? `lait may neither look into its PATH nor run it; run lait with --allow-run=${name}`
    : "it is not in the PATH of its environment";
  throw new ProcessError("spawn", `cannot find the program \`${name}\`: ${why}`, {
    details: { program: name },
  });
}
