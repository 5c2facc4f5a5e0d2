/** Sandboxes with a wall, as the tests use them: what the machine has, and an image that needs no registry. */
import { type ContainerSandboxOptions, createContainerSandboxProvider } from "../../lib/sandbox/providers/container.ts";
import type { SandboxProvider } from "../../lib/sandbox/lease.ts";

const decoder = new TextDecoder();

async function succeeds(program: string, ...args: string[]): Promise<boolean> {
  try {
    return (await new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}

/** Why there is no bubblewrap; undefined when there is. */
export const noBubblewrap = await succeeds("bwrap", "--ro-bind", "/", "/", "--unshare-all", "true")
  ? undefined
  : "bubblewrap is not installed, or may not make namespaces";

async function staticBusybox(): Promise<string | undefined> {
  for (const path of ["/usr/bin/busybox", "/bin/busybox"]) {
    if (await succeeds(path, "true")) return path;
  }
  return undefined;
}

const busybox = await staticBusybox();

/** Why there are no containers; undefined when there are. */
export const noContainers = busybox === undefined
  ? "busybox-static is not installed"
  : await succeeds("podman", "--version") && await succeeds("runc", "--version")
  ? undefined
  : "podman and runc are not installed";

/** The title of a test, with the reason when it will be skipped. */
export function titled(title: string, reason: string | undefined): string {
  return reason === undefined ? title : `${title} (skipped: ${reason})`;
}

/** Images and containers of one test file, in a directory of their own that is removed at the end. */
export class Engine implements AsyncDisposable {
  /** The image: nothing but busybox. */
  readonly image = "localhost/lait-test:latest";
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** Builds the image. */
  static async make(): Promise<Engine> {
    const directory = await Deno.makeTempDir({ prefix: "lait-test-" });
    const engine = new Engine(directory);
    await Deno.mkdir(`${directory}/context`);
    await Deno.copyFile(busybox!, `${directory}/context/busybox`);
    await Deno.writeTextFile(
      `${directory}/context/Containerfile`,
      [
        "FROM scratch",
        "COPY busybox /bin/busybox",
        'RUN ["/bin/busybox", "mkdir", "-p", "/usr/bin"]',
        'RUN ["/bin/busybox", "--install", "-s", "/bin"]',
        'RUN ["/bin/busybox", "ln", "-s", "/bin/busybox", "/usr/bin/env"]',
        "",
      ].join("\n"),
    );
    await engine.podman("build", "-q", "--network", "none", ...ULIMITS, "-t", engine.image, `${directory}/context`);
    return engine;
  }

  get #arguments(): string[] {
    const { root, runroot } = { root: `${this.#directory}/root`, runroot: `${this.#directory}/run` };
    return ["--root", root, "--runroot", runroot, "--storage-driver", "vfs", "--runtime", "runc"];
  }

  /** Runs podman; gives what it printed. */
  async podman(...args: string[]): Promise<string> {
    const { success, stdout, stderr } = await new Deno.Command("podman", { args: [...this.#arguments, ...args] })
      .output();
    if (!success) throw new Error(`podman ${args.join(" ")}: ${decoder.decode(stderr)}`);
    return decoder.decode(stdout).trim();
  }

  /** A provider of the image. */
  provider(options: Partial<ContainerSandboxOptions> = {}): SandboxProvider {
    return createContainerSandboxProvider(this.options(options));
  }

  /** The options of that provider. */
  options(options: Partial<ContainerSandboxOptions> = {}): ContainerSandboxOptions {
    const { runArguments = [] } = options;
    return {
      engine: "podman",
      image: this.image,
      engineArguments: this.#arguments,
      ...options,
      runArguments: [...ULIMITS, ...runArguments],
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.podman("rm", "--all", "--force", "--time", "0");
    await Deno.remove(this.#directory, { recursive: true });
  }
}

const ULIMITS = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"];
