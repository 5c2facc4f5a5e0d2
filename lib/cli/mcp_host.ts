/** What stands around the MCP servers of a command: the terminal. */
import { visible } from "../base/text.ts";
import type { ProjectMcpHost } from "../project/mcp.ts";
import type { Project } from "../project/project.ts";
import { createTerminalElicitation } from "./elicitation.ts";
import type { Io } from "./io.ts";
import type { Log } from "./log.ts";

/**
 * Servers write to standard error, line by line; they may ask the user where the project allows it. `pause` takes away
 * what is shown on the terminal at the moment, `resume` is called behind what is written or asked then.
 */
export function createMcpHost(
  io: Io,
  log: Log,
  project: Project,
  pause: () => void,
  resume: () => void = () => {},
): ProjectMcpHost {
  const unfinished = new Map<string, string>();
  return {
    elicit: createTerminalElicitation(io, {
      allowed: (server) => project.config.mcp_servers?.[server]?.allow_elicitation ?? false,
      pause,
      resume,
    }),
    stderr: (server, text) => {
      const lines = ((unfinished.get(server) ?? "") + text).split(/\r?\n/);
      const rest = lines.pop()!;
      // A line that never ends is not kept.
      unfinished.set(server, rest.length > 64 * 1024 ? "" : rest);
      if (rest.length > 64 * 1024) lines.push(rest);
      if (lines.length === 0) return;
      pause();
      io.stderr.write(lines.map((line) => `${visible(line)}\n`).join(""));
      resume();
    },
    ...(log.verbose ? { detail: (message: string) => log.debug(message) } : {}),
  };
}
