/**
 * Ending a process tree: the process group that the child leads, and every descendant that left the group and can
 * still be found by parent ids. The group is promised; the rest is found as long as its parent chain lives.
 */
import { LIMITS } from "../base/limits.ts";
import { systemClock } from "../base/clock.ts";
import { descendantsOf, membersOf, type ProcessEntry, type ProcessTable, readProcessTable } from "./process_table.ts";

const POLL_MS = 10;

type Sent = "sent" | "gone" | "denied";

/** Sends a signal to a process, or to a group when `target` is negative. */
function send(target: number, signal: "SIGTERM" | "SIGKILL"): Sent {
  try {
    Deno.kill(target, signal);
    return "sent";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "gone";
    // Under a narrowed --allow-run Deno signals nobody; the program `kill` may, when it is in the list.
    return sendByProgram(target, signal);
  }
}

function sendByProgram(target: number, signal: "SIGTERM" | "SIGKILL"): Sent {
  try {
    const args = [`-${signal.slice(3)}`, "--", String(target)];
    const output = new Deno.Command("kill", { args, stdin: "null", stdout: "null", stderr: "null" }).outputSync();
    return output.success ? "sent" : "gone";
  } catch {
    return "denied";
  }
}

/** The group's root and the strays found so far. */
class Tree {
  readonly #group: number;
  readonly #strays = new Map<number, ProcessEntry>();

  constructor(group: number) {
    this.#group = group;
  }

  /** Looks once more for descendants outside the group; undefined when the machine cannot be looked at. */
  look(): ProcessTable | undefined {
    const table = readProcessTable();
    if (table === undefined) return undefined;
    const members = membersOf(table, this.#group).map((entry) => entry.pid);
    for (const entry of descendantsOf(table, [this.#group, ...members, ...this.#strays.keys()])) {
      if (entry.group !== this.#group && !entry.ended) this.#strays.set(entry.pid, entry);
    }
    return table;
  }

  /** Whether anything of the tree still runs, by this snapshot. */
  alive(table: ProcessTable): boolean {
    return membersOf(table, this.#group).length > 0 ||
      [...this.#strays.values()].some((stray) => isSame(stray, table) && !table.get(stray.pid)!.ended);
  }

  /** Signals the group, then each stray that is still the process that was found. */
  signal(signal: "SIGTERM" | "SIGKILL", table: ProcessTable | undefined): Sent {
    const sent = send(-this.#group, signal);
    for (const stray of this.#strays.values()) {
      if (table !== undefined && isSame(stray, table)) send(stray.pid, signal);
    }
    return sent;
  }
}

function isSame(entry: ProcessEntry, table: ProcessTable): boolean {
  return table.get(entry.pid)?.started === entry.started;
}

/** Where signals do not reach: what could not be ended. */
export interface EndedTree {
  /** Whether only the direct child could be signalled, so that its descendants may live on. */
  readonly descendantsMayLive: boolean;
}

/**
 * Ends the tree whose group the process `pid` leads, and waits until it is gone, as far as that can be seen.
 * With `grace`: SIGTERM, up to half a second, SIGKILL; without: SIGKILL at once.
 */
export async function endTree(child: Deno.ChildProcess, options: { grace: boolean }): Promise<EndedTree> {
  if (Deno.build.os === "windows") return await endWindowsTree(child);
  const tree = new Tree(child.pid);
  const status = child.status.then(() => {});
  let table = tree.look();
  if (options.grace) {
    if (tree.signal("SIGTERM", table) === "denied") killDirectly(child, "SIGTERM");
    const until = performance.now() + LIMITS.terminateGraceMs;
    // Without a snapshot the direct child's end is all that can be seen; then the whole grace is given to the rest.
    while (performance.now() < until && (table === undefined || tree.alive(table))) {
      await systemClock.sleep(table === undefined ? until - performance.now() : POLL_MS);
      if (table !== undefined) table = tree.look();
    }
  }
  const sent = tree.signal("SIGKILL", table);
  if (sent === "denied") killDirectly(child, "SIGKILL");
  await Promise.race([status, systemClock.sleep(LIMITS.reapMs)]);
  // A fork at the moment of the first kill: once more, until nothing of the tree is left that can be seen.
  const until = performance.now() + LIMITS.reapMs;
  for (table = tree.look(); table === undefined || tree.alive(table); table = tree.look()) {
    tree.signal("SIGKILL", table);
    if (table === undefined || performance.now() >= until) break;
    await systemClock.sleep(POLL_MS);
  }
  return { descendantsMayLive: sent === "denied" };
}

function killDirectly(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch {
    // Already ended.
  }
}

async function endWindowsTree(child: Deno.ChildProcess): Promise<EndedTree> {
  let ended = false;
  try {
    const args = ["/T", "/F", "/PID", String(child.pid)];
    const output = await new Deno.Command("taskkill", { args, stdin: "null", stdout: "null", stderr: "null" }).output();
    ended = output.success;
  } catch {
    // Not allowed or not there: the direct child is ended below.
  }
  if (!ended) killDirectly(child, "SIGKILL");
  await Promise.race([child.status, systemClock.sleep(LIMITS.reapMs)]);
  return { descendantsMayLive: !ended };
}

/** Ends a tree at once and without waiting, for an exit that cannot wait. */
export function killTreeNow(pid: number): void {
  if (Deno.build.os === "windows") {
    try {
      Deno.kill(pid, "SIGKILL");
    } catch {
      // Already ended.
    }
    return;
  }
  const tree = new Tree(pid);
  tree.signal("SIGKILL", tree.look());
}

/** A group whose leader has ended while others of it live on, with what tells them apart later. */
export interface LingeringGroup {
  readonly group: number;
  readonly members: readonly ProcessEntry[];
}

/** What an ended command left running in its group; undefined when there is nothing or it cannot be seen. */
export function lingeringGroup(pid: number): LingeringGroup | undefined {
  if (Deno.build.os === "windows") return undefined;
  const table = readProcessTable();
  const members = table === undefined ? [] : membersOf(table, pid);
  return members.length === 0 ? undefined : { group: pid, members };
}

/** Ends what a command left running, when it is still the same group. */
export function killLingering(lingering: LingeringGroup): void {
  const table = readProcessTable();
  if (table === undefined || !lingering.members.some((member) => isSame(member, table))) return;
  new Tree(lingering.group).signal("SIGKILL", table);
}
