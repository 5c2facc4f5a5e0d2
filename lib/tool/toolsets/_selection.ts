/** The option that says which files exist for a toolset. */
import { checkKeys, checkOneOf } from "../../base/options.ts";

/** Which files a toolset sees. */
export interface HarnessSelectionOptions {
  /**
   * `git`: what Git tracks and what it does not ignore. `filesystem`: every ordinary file but those in `.git`,
   * `.outpost` and `.lait`, without Git. Default: `git`.
   */
  readonly selection?: "git" | "filesystem";
}

/** The selection that options ask for. */
export function selectionOf(what: string, options: HarnessSelectionOptions): "git" | "filesystem" {
  checkKeys(what, options, ["selection"]);
  checkOneOf(`${what}: selection`, options.selection, ["git", "filesystem"]);
  return options.selection ?? "git";
}
