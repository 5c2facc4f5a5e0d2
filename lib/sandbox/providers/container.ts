/** A container of podman or docker as a sandbox. */
import { ConfigurationError } from "../../base/errors.ts";
import { checkInteger, checkKeys, checkOneOf, checkText } from "../../base/options.ts";
import type { AcquireOptions, SandboxProvider } from "../lease.ts";
import type { ContainerSettings } from "./_container_arguments.ts";
import { ContainerLease } from "./_container_lease.ts";
import {
  checkEgress,
  checkMounts,
  checkVariables,
  type Egress,
  type SandboxMount,
  type SandboxVariables,
} from "./isolation.ts";

/** Options of {@link createContainerSandboxProvider}. */
export interface ContainerSandboxOptions extends SandboxVariables {
  /** The program that runs containers. */
  readonly engine: "podman" | "docker";
  /** The image. It must have `sh`, `cat`, `env` and `kill`, `chmod`, `mv` and `rm` for files, and what the work needs. */
  readonly image: string;
  /** Whom commands run as in the container. Default: the user of this program, so that files stay theirs; the owner of the
   * workspace when that is root. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Whether commands may use the network: `true` for the engine's own, or the name of one. Default: false. */
  readonly network?: boolean | string;
  /** As `network: false`, said in the words of other tools. */
  readonly egress?: Egress;
  /** Directories of this machine that commands see besides the workspace. Default: none. */
  readonly mounts?: readonly SandboxMount[];
  /** How many processors commands may use, fractions included. Default: the engine's. */
  readonly cpus?: number;
  /** How much memory, in MiB. Default: the engine's. */
  readonly memoryMb?: number;
  /** How many processes and threads. Default: the engine's. */
  readonly maxProcesses?: number;
  /** More arguments of the engine itself, in front of its command: `["--runtime", "runc"]`. Default: none. */
  readonly engineArguments?: readonly string[];
  /** More arguments of the engine's `run`: `["--ulimit", "nofile=1024:1024"]`. Default: none. */
  readonly runArguments?: readonly string[];
}

const WHAT = "createContainerSandboxProvider";

const KEYS = [
  "engine",
  "image",
  "user",
  "network",
  "egress",
  "mounts",
  "cpus",
  "memoryMb",
  "maxProcesses",
  "engineArguments",
  "runArguments",
  "variables",
  "inherit",
] as const;

/**
 * A provider whose commands run in a container: one for each lease, started once, gone with the lease, and with this
 * program, also when it is killed. The workspace is there under its own path, and can be written; the home directory
 * and `/tmp` are empty and last as long as the lease. Commands have no capabilities and cannot gain any, no network
 * unless it is asked for, and nothing of the environment but what the options name and the image says.
 *
 * @throws ConfigurationError for a wrong option; `acquire` for a machine without the engine, or an image that cannot start
 *
 * @example
 * ```ts
 * import { createContainerSandboxProvider } from "./container.ts";
 * const provider = createContainerSandboxProvider({ engine: "podman", image: "docker.io/library/node:22", cpus: 2 });
 * console.assert(provider.name === "podman");
 * ```
 */
export function createContainerSandboxProvider(options: ContainerSandboxOptions): SandboxProvider {
  checkKeys(WHAT, options, KEYS);
  const { engine, image, network = false, mounts = [], user, cpus } = options;
  checkOneOf(`${WHAT}: engine`, engine ?? null, ["podman", "docker"]);
  checkText(`${WHAT}: image`, image);
  if (image.startsWith("-")) throw new ConfigurationError(`${WHAT}: image must not start with \`-\``);
  if (typeof network !== "boolean") checkText(`${WHAT}: network`, network);
  checkEgress(WHAT, options.egress, options.network);
  checkMounts(`${WHAT}: mounts`, mounts);
  checkVariables(WHAT, options);
  if (user !== undefined) {
    checkKeys(`${WHAT}: user`, user, ["uid", "gid"]);
    for (const key of ["uid", "gid"] as const) checkInteger(`${WHAT}: user.${key}`, user[key] ?? null, 0);
  }
  if (cpus !== undefined && !(Number.isFinite(cpus) && cpus > 0)) {
    throw new ConfigurationError(`${WHAT}: cpus must be a number above 0 (got ${cpus})`);
  }
  checkInteger(`${WHAT}: memoryMb`, options.memoryMb, 1);
  checkInteger(`${WHAT}: maxProcesses`, options.maxProcesses, 1);
  const { engineArguments = [], runArguments = [] } = options;
  for (const [name, words] of Object.entries({ engineArguments, runArguments })) {
    if (Array.isArray(words) && words.every((word) => typeof word === "string")) continue;
    throw new ConfigurationError(`${WHAT}: ${name} must be a list of texts`);
  }
  const settings: ContainerSettings = { ...options, network, mounts, engineArguments, runArguments };
  return Object.freeze({
    name: engine,
    placement: "mounted" as const,
    acquire: (acquiring: AcquireOptions) => ContainerLease.acquire(acquiring, settings),
  });
}
