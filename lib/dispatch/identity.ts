/** The user's Git identity within a sandbox that does not see the user's configuration. */
import type { Command, SandboxLease, SandboxProvider } from "../sandbox/lease.ts";
import type { Repository } from "./repository.ts";

/** A lease whose commands commit as the user does; on this machine they do anyway. */
export async function withIdentity(
  lease: SandboxLease,
  provider: SandboxProvider,
  repository: Repository,
): Promise<SandboxLease> {
  if (provider.placement === "host") return lease;
  const [name, email] = await Promise.all(["user.name", "user.email"].map(async (key) => {
    const { status, stdout } = await repository.attempt("config", ["--get", key]);
    return status === 0 ? stdout.trim() : "";
  }));
  const identity = Object.fromEntries([
    ...(name ? [["GIT_AUTHOR_NAME", name], ["GIT_COMMITTER_NAME", name]] : []),
    ...(email ? [["GIT_AUTHOR_EMAIL", email], ["GIT_COMMITTER_EMAIL", email]] : []),
  ]);
  const extend = <C extends Pick<Command, "variables" | "inheritVariables">>(command: C): C =>
    command.inheritVariables === false ? command : { ...command, variables: { ...identity, ...command.variables } };
  return {
    root: lease.root,
    home: lease.home,
    variables: lease.variables ?? {},
    invoke: (command) => lease.invoke(extend(command)),
    spawn: (command) => lease.spawn(extend(command)),
    upload: (hostPath, sandboxPath, options) => lease.upload(hostPath, sandboxPath, options),
    download: (sandboxPath, hostPath, options) => lease.download(sandboxPath, hostPath, options),
    release: () => lease.release(),
  };
}
