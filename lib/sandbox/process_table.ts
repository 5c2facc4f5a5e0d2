/** Who runs whose child: a snapshot of the machine's processes, where lait may read one. */

/** One process of the snapshot. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Whether it has ended and only waits to be reaped. */
  readonly ended: boolean;
  /** When it was started; compared before a signal, since a process id may have been given away again. */
  readonly started: string;
}

/** The snapshot, by process id. */
export type ProcessTable = ReadonlyMap<number, ProcessEntry>;

/** Parses a line of `/proc/<pid>/stat`; undefined for anything else. The name in parentheses may hold anything. */
export function parseStat(line: string): ProcessEntry | undefined {
  const pid = Number.parseInt(line, 10);
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group] = fields;
  const started = fields[19];
  if (!Number.isInteger(pid) || state === undefined || started === undefined) return undefined;
  return { pid, parent: Number(parent), group: Number(group), ended: state === "Z" || state === "X", started };
}

/** Parses a line of `ps -A -o pid=,ppid=,pgid=,stat=,lstart=`. */
export function parsePsLine(line: string): ProcessEntry | undefined {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line);
  if (match === null) return undefined;
  const [, pid, parent, group, state, started] = match;
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    ended: state!.startsWith("Z"),
    started: started!,
  };
}

function readProc(): ProcessTable | undefined {
  const table = new Map<number, ProcessEntry>();
  try {
    for (const entry of Deno.readDirSync("/proc")) {
      if (!/^\d+$/.test(entry.name)) continue;
      try {
        const parsed = parseStat(Deno.readTextFileSync(`/proc/${entry.name}/stat`));
        if (parsed !== undefined) table.set(parsed.pid, parsed);
      } catch (error) {
        // Ended while the folder was read. A denial holds for every process, so it ends the attempt.
        if (error instanceof Deno.errors.NotCapable) return undefined;
      }
    }
  } catch {
    return undefined;
  }
  return table.size === 0 ? undefined : table;
}

function readPs(): ProcessTable | undefined {
  try {
    const output = new Deno.Command("ps", {
      args: ["-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="],
      stdin: "null",
      stderr: "null",
    }).outputSync();
    if (!output.success) return undefined;
    const entries = new TextDecoder().decode(output.stdout).split("\n").map(parsePsLine);
    return new Map(entries.filter((entry) => entry !== undefined).map((entry) => [entry.pid, entry]));
  } catch {
    return undefined;
  }
}

/**
 * A snapshot from `/proc`, else from the program `ps`, else undefined: without all rights Deno refuses `/proc`, and
 * `ps` may be neither there nor allowed.
 */
export function readProcessTable(): ProcessTable | undefined {
  if (Deno.build.os === "windows") return undefined;
  return (Deno.build.os === "linux" ? readProc() : undefined) ?? readPs();
}

/** Every descendant of `roots` in the table, by parent ids; the roots themselves are left out. */
export function descendantsOf(table: ProcessTable, roots: Iterable<number>): ProcessEntry[] {
  const children = new Map<number, ProcessEntry[]>();
  for (const entry of table.values()) {
    const siblings = children.get(entry.parent);
    if (siblings === undefined) children.set(entry.parent, [entry]);
    else siblings.push(entry);
  }
  const found = new Map<number, ProcessEntry>();
  const queue = [...roots];
  for (let parent = queue.pop(); parent !== undefined; parent = queue.pop()) {
    for (const child of children.get(parent) ?? []) {
      if (found.has(child.pid)) continue;
      found.set(child.pid, child);
      queue.push(child.pid);
    }
  }
  return [...found.values()];
}

/** The members of a process group that have not ended. */
export function membersOf(table: ProcessTable, group: number): ProcessEntry[] {
  return [...table.values()].filter((entry) => entry.group === group && !entry.ended);
}
