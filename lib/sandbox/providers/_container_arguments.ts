/** How a container is started: the options of the provider as arguments of its engine. */
import { KEEP_ALIVE, NOTES } from "./_container_scripts.ts";
import type { SandboxMount, SandboxVariables } from "./isolation.ts";

/** Whom commands run as. */
interface User {
  readonly uid: number;
  readonly gid: number;
}

/** The options of the provider, checked. */
export interface ContainerSettings extends SandboxVariables {
  readonly engine: "podman" | "docker";
  readonly image: string;
  readonly user?: User;
  readonly network: boolean | string;
  readonly mounts: readonly SandboxMount[];
  readonly cpus?: number;
  readonly memoryMb?: number;
  readonly maxProcesses?: number;
  readonly engineArguments: readonly string[];
  readonly runArguments: readonly string[];
}

type StartSettings = ContainerSettings & { readonly user: User };

/** The home directory in each container; an empty one in memory. */
export const HOME = "/home/lait";

/** The arguments of the engine's `run` behind the engine: `writable` are directories under their own path. */
export function runArguments(name: string, writable: readonly string[], settings: StartSettings): string[] {
  const { network, mounts, cpus, memoryMb, maxProcesses, runArguments, image, engine, user } = settings;
  const all = [
    ...mounts,
    ...writable.map((source) => ({ source, target: source, writable: true })),
  ];
  return [
    "run",
    "--rm",
    "--interactive",
    "--name",
    name,
    "--label",
    "lait.sandbox=true",
    // Whatever tells it to end: there is nothing to be waited for.
    "--stop-signal",
    "KILL",
    // With `true` it is the engine's own default, which differs with and without root.
    ...(network === true ? [] : ["--network", network === false ? "none" : network]),
    // Podman would pass on this machine's proxies, with the passwords in them.
    ...(engine === "podman" ? ["--http-proxy=false", ...mapped(user)] : []),
    "--cap-drop",
    "ALL",
    "--security-opt",
    "no-new-privileges",
    "--user",
    `${user.uid}:${user.gid}`,
    "--env",
    `HOME=${HOME}`,
    "--tmpfs",
    "/tmp:rw,exec,nosuid,nodev,mode=1777",
    "--tmpfs",
    `${HOME}:rw,exec,nosuid,nodev,mode=1777`,
    "--tmpfs",
    `${NOTES}:rw,noexec,nosuid,nodev,mode=1777`,
    ...all.flatMap(({ source, target = source, writable = false }) => ["--mount", bind(source, target, writable)]),
    "--workdir",
    "/",
    ...(cpus === undefined ? [] : ["--cpus", String(cpus)]),
    ...(memoryMb === undefined ? [] : ["--memory", `${memoryMb}m`]),
    ...(maxProcesses === undefined ? [] : ["--pids-limit", String(maxProcesses)]),
    ...runArguments,
    "--entrypoint",
    "sh",
    image,
    "-c",
    KEEP_ALIVE,
  ];
}

/**
 * Without root, podman's own mapping would give files to somebody else: whoever runs this program is to be the user in
 * the container.
 */
function mapped({ uid, gid }: User): string[] {
  const own = { uid: Deno.uid() ?? 0, gid: Deno.gid() ?? 0 };
  if (own.uid === 0 || uid === 0) return [];
  return ["--userns", uid === own.uid && gid === own.gid ? "keep-id" : `keep-id:uid=${uid},gid=${gid}`];
}

/** Whom files are to belong to: the user of this program, but for root the owner of the workspace. */
export async function ownerOf(root: string): Promise<User> {
  const own = { uid: Deno.uid() ?? 0, gid: Deno.gid() ?? 0 };
  if (own.uid !== 0 || Deno.build.os === "windows") return own;
  const { uid, gid } = await Deno.stat(root);
  return { uid: uid ?? 0, gid: gid ?? 0 };
}

/** A mount as the engines read it: fields of comma-separated values, which may be quoted. */
function bind(source: string, target: string, writable: boolean): string {
  const field = (text: string) => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const fields = ["type=bind", `source=${source}`, `target=${target}`, ...(writable ? [] : ["readonly"])];
  return fields.map(field).join(",");
}
