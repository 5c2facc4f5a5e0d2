/** The ordinary files below a path, without Git. */
import { ProcessError, ToolFailure } from "../../base/errors.ts";
import { WORKING_FOLDER } from "../../base/product.ts";
import { locate } from "../path_rule.ts";
import type { HarnessToolContext } from "../tool.ts";
import { quoted } from "./_text_file.ts";
import { TOOLSET_LIMITS } from "./limits.ts";

/** Folders that hold no files of the user's. */
const HIDDEN: readonly string[] = [".git", ".outpost", WORKING_FOLDER];

/**
 * Paths relative to the root, in no order. Links are skipped.
 *
 * @param options.maxBytes leaves out larger files
 * @throws ToolFailure when there are too many, or a link stands in `path`
 */
export async function findFiles(
  { sandbox, signal }: HarnessToolContext,
  path: string,
  options: { readonly maxBytes?: number } = {},
): Promise<string[]> {
  const { foundFiles, foundNameBytes } = TOOLSET_LIMITS;
  const place = await locate(sandbox, path, { signal });
  if (place.linked) throw new ToolFailure(`${quoted(path)} goes through a symbolic link; name what it leads to`);
  if (place.kind === "missing" || isHidden(place.path)) return [];
  const prune = HIDDEN.flatMap((name) => ["-name", name, "-prune", "-o"]);
  const size = options.maxBytes === undefined ? [] : ["!", "-size", `+${options.maxBytes}c`];
  const tooMany = () =>
    new ToolFailure(
      `there are too many files below ${quoted(path)}: more than ${foundFiles}, or ${foundNameBytes} bytes of names; ` +
        "name a directory with fewer",
    );
  try {
    const { status, stdout, stderr } = await sandbox.invoke({
      executable: "find",
      arguments: [place.path === "." ? "." : `./${place.path}`, ...prune, "-type", "f", ...size, "-print0"],
      maxBytes: foundNameBytes,
      quiet: true,
      signal,
    });
    if (status !== 0) throw new ToolFailure(`cannot list ${quoted(path)}: ${stderr.trim()}`);
    const names = stdout.split("\0").slice(0, -1).map((name) => name.replace(/^\.\//, ""));
    if (names.length > foundFiles) throw tooMany();
    return names;
  } catch (error) {
    if (error instanceof ProcessError && error.kind === "overflow") throw tooMany();
    throw error;
  }
}

function isHidden(path: string): boolean {
  return path.split("/").some((segment) => HIDDEN.includes(segment));
}
