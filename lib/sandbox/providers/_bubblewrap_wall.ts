/** The arguments of `bwrap` that make the wall: what of this machine a sandbox shows, and how. */
import { readEnvironment } from "../../base/environment.ts";
import { dirname } from "../../deps/path.ts";
import type { SandboxMount } from "./isolation.ts";

/** Directories that hold other people's and programs' own things: empty for commands. */
const HIDDEN: readonly string[] = ["/home", "/root", "/run", "/tmp", "/var/tmp", "/mnt", "/media", "/srv"];

/** What name resolution needs of `/run`, where it is there. */
const RESOLVERS: readonly string[] = ["/run/systemd/resolve", "/run/NetworkManager/resolv.conf", "/run/resolvconf"];

/** The options that make the wall, checked. */
export interface WallSettings {
  readonly network: boolean;
  readonly mounts: readonly SandboxMount[];
  readonly hide: readonly string[];
}

/** The user's home where it can stand in the sandbox; else one in `/tmp`. */
export async function homeInside(): Promise<string> {
  const home = readEnvironment("HOME");
  const real = home === undefined ? undefined : await Deno.realPath(home).catch(() => undefined);
  // A user without a home has `/`, or a directory that is not there and could not be made.
  return real === undefined || real === "/" || !(await Deno.stat(real)).isDirectory ? "/tmp/home" : real;
}

interface WallMount {
  readonly target: string;
  readonly argv: readonly string[];
}

/** Hides what these paths lead to: a directory is empty then, and so is a file. */
async function hiding(paths: readonly string[], empty: string): Promise<WallMount[]> {
  const mounts = new Map<string, WallMount>();
  for (const path of paths) {
    const target = await Deno.realPath(path).catch(() => undefined);
    if (target === undefined || target === "/") continue;
    const { isDirectory } = await Deno.stat(target);
    mounts.set(target, { target, argv: isDirectory ? ["--tmpfs", target] : ["--ro-bind", empty, target] });
  }
  return [...mounts.values()];
}

/** What a wall is made around. */
export interface Wall {
  readonly home: string;
  /** The lease's own directory, with its home, its `/tmp` and an empty file. */
  readonly own: string;
  readonly writable: readonly string[];
  readonly settings: WallSettings;
}

/** The arguments of `bwrap` that are the same for every command. */
export async function wall({ home, own, writable, settings }: Wall): Promise<string[]> {
  const mounts: WallMount[] = [
    { target: "/dev", argv: ["--dev", "/dev"] },
    { target: "/proc", argv: ["--proc", "/proc"] },
    ...await hiding([...HIDDEN, dirname(home), ...settings.hide], `${own}/empty`),
  ];
  mounts.push({ target: "/tmp", argv: ["--bind", `${own}/tmp`, "/tmp"] });
  mounts.push({ target: home, argv: ["--bind", `${own}/home`, home] });
  if (settings.network) {
    for (const path of RESOLVERS) mounts.push({ target: path, argv: ["--ro-bind-try", path, path] });
  }
  for (const { source, target = source, writable = false } of settings.mounts) {
    mounts.push({ target, argv: [writable ? "--bind" : "--ro-bind", source, target] });
  }
  for (const path of writable) mounts.push({ target: path, argv: ["--bind", path, path] });
  // Outer ones first; of two at one place the later one counts, so the workspace always does.
  const depth = (path: string) => path.split("/").filter((part) => part !== "").length;
  const ordered = mounts.toSorted((a, b) => depth(a.target) - depth(b.target));
  return [
    "--unshare-all",
    ...(settings.network ? ["--share-net"] : []),
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--ro-bind",
    "/",
    "/",
    ...ordered.flatMap(({ argv }) => argv),
  ];
}
