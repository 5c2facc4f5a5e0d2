/** Questions that MCP servers ask the user, put on the terminal. */
import { isJsonObject } from "../base/json.ts";
import { untilAborted } from "../base/signals.ts";
import { visible } from "../base/text.ts";
import type { Elicit, ElicitationParams } from "../mcp/client/target.ts";
import type { Io } from "./io.ts";
import { say } from "./say.ts";

type Answer = Awaited<ReturnType<Elicit>>;

const DECLINE: Answer = { action: "decline" };

/**
 * Answers servers for a person at the terminal, one question at a time. Without a terminal, or for a server that may not
 * ask, it declines and prints nothing. An address to visit is printed and declined.
 */
export function createTerminalElicitation(
  io: Io,
  options: {
    readonly allowed: (server: string) => boolean;
    /** Called before a question. */
    readonly pause: () => void;
    /** Called behind it. */
    readonly resume?: () => void;
  },
): Elicit {
  let turn: Promise<unknown> = Promise.resolve();
  return async (server, params, signal) => {
    if (!options.allowed(server) || !io.stdin.isTerminal) return DECLINE;
    const answer = turn.then(() => {
      options.pause();
      return ask(io, server, params, signal).finally(options.resume);
    });
    turn = answer.catch(() => {});
    // A question that was given up keeps nobody waiting, and whatever fails is no.
    return await untilAborted(answer, signal).catch(() => DECLINE);
  };
}

async function ask(
  io: Io,
  server: string,
  params: ElicitationParams,
  signal: AbortSignal,
): Promise<Answer> {
  await io.stdout.flush();
  const asker = `mcp_servers.${server}`;
  if (params.mode === "url") {
    say(io, "note", `${asker}: ${params.message} (${params.url}); addresses are not opened, declined`);
    return DECLINE;
  }
  if (!("requestedSchema" in params)) return DECLINE;
  io.stderr.write(`${visible(`${asker}: ${params.message}`)}\n${fieldLines(params.requestedSchema)}`);
  io.stderr.write("a JSON object, or decline, or cancel: ");
  const line = await io.stdin.readLine(signal);
  if (line === undefined) {
    io.stderr.write("\n");
    return DECLINE;
  }
  return readAnswer(io, line.trim());
}

function readAnswer(io: Io, line: string): Answer {
  const word = line.toLowerCase();
  if (word === "decline" || word === "cancel") return { action: word };
  let content: unknown;
  try {
    content = JSON.parse(line);
  } catch {
    content = undefined;
  }
  if (isJsonObject(content)) return { action: "accept", content: content as NonNullable<Answer["content"]> };
  say(io, "note", "the answer is no JSON object: declined");
  return DECLINE;
}

type FormSchema = Extract<ElicitationParams, { requestedSchema: unknown }>["requestedSchema"];

function fieldLines({ properties, required = [] }: FormSchema): string {
  return Object.entries(properties).map(([name, field]) => {
    const { type, title, description } = field as { type?: string; title?: string; description?: string };
    const text = description ?? title;
    const marks = `${required.includes(name) ? " (required)" : ""}: ${type ?? "any"}`;
    return `  - ${visible(`${name}${marks}${text === undefined ? "" : ` — ${text}`}`)}\n`;
  }).join("");
}
