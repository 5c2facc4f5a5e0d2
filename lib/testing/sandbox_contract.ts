/** What every sandbox lease promises; for the tests of whoever makes one. */
import { ProcessError } from "../base/errors.ts";
import type { SandboxLease } from "../sandbox/lease.ts";
import { type ContractCase, expectSame, expectThat, rejection } from "./contract.ts";

/**
 * The cases of a lease's contract. Each takes a lease of its own and releases it. The sandbox needs POSIX `sh`, `cat`,
 * `chmod`, `env`, `mkdir`, `mv`, `printf`, `rm` and `sleep`.
 *
 * @example
 * ```ts
 * import { sandboxContract } from "./sandbox_contract.ts";
 * import { createLocalSandboxProvider } from "../sandbox/providers/local.ts";
 * const provider = createLocalSandboxProvider();
 * const cases = sandboxContract(() => provider.acquire({ directory: Deno.cwd() }));
 * for (const { run } of cases.slice(0, 1)) await run();
 * console.assert(cases.length > 10);
 * ```
 */
export function sandboxContract(acquire: () => Promise<SandboxLease>): ContractCase[] {
  const contract = (name: string, check: (lease: SandboxLease) => Promise<void>): ContractCase => ({
    name,
    run: async () => {
      const lease = await acquire();
      try {
        await check(lease);
      } finally {
        await lease.release();
      }
    },
  });
  const sh = (script: string) => ({ executable: "sh", arguments: ["-c", script] });
  return [
    contract("invoke: status and both streams are the result", async (lease) => {
      const { status, stdout, stderr } = await lease.invoke(sh("printf out; printf err >&2; exit 3"));
      expectSame("the result", { status, stdout, stderr }, { status: 3, stdout: "out", stderr: "err" });
    }),
    contract("invoke: arguments arrive as they are, without a shell", async (lease) => {
      const word = "a b;$(exit 1) '\"*\\ é\n";
      const { stdout } = await lease.invoke({ executable: "printf", arguments: ["%s|%s", word, ""] });
      expectSame("the arguments", stdout, `${word}|`);
    }),
    contract("invoke: a signal's status is 128 and its number", async (lease) => {
      expectSame("the status", (await lease.invoke(sh("kill -9 $$"))).status, 137);
    }),
    contract("invoke: a status of 1 or 127 that the command itself gives is a result", async (lease) => {
      for (const status of [1, 127]) {
        const own = await lease.invoke(sh(`echo "env: x: mine" >&2; exit ${status}`));
        expectSame("the result", [own.status, own.stderr], [status, "env: x: mine\n"]);
      }
    }),
    contract("invoke: standard input is empty unless it is given", async (lease) => {
      expectSame("no input", (await lease.invoke({ executable: "cat" })).stdout, "");
      expectSame("given input", (await lease.invoke({ executable: "cat", stdin: "héllo" })).stdout, "héllo");
      const much = "0123456789abcdef".repeat(65_536);
      const { stdout } = await lease.invoke({ executable: "cat", stdin: much });
      expectThat(`of a MiB, ${stdout.length} characters came back`, stdout === much);
    }),
    contract("invoke: a command runs at the root, or in a directory below it", async (lease) => {
      const sub = "lait-contract/a b é '$x\"";
      await lease.invoke({ executable: "mkdir", arguments: ["-p", sub] });
      const there = await lease.invoke({ ...sh("pwd -P"), directory: sub });
      await lease.invoke(sh("rm -rf lait-contract"));
      expectThat(`the directory was ${there.stdout}`, there.stdout.trim().endsWith(`/${sub}`));
    }),
    contract("invoke: a directory that is not there is a spawn error that names it", async (lease) => {
      const error = await rejection("the command", lease.invoke({ ...sh("true"), directory: "lait-contract-none" }));
      expectThat(`a ProcessError of kind spawn was expected, got ${error}`, isProcess(error, "spawn"));
      expectThat(`the error says ${error}`, String(error).includes("lait-contract-none"));
    }),
    contract("invoke: variables are added, or are all there is", async (lease) => {
      const variables = { LAIT_CONTRACT: "yes" };
      const added = await lease.invoke({ ...sh('printf %s "$LAIT_CONTRACT"'), variables });
      expectSame("the variable", added.stdout, "yes");
      const odd = " a\nb\n\n'c' \"d\" $HOME `e` é\\";
      const kept = await lease.invoke({ ...sh('printf %s "$ODD"'), variables: { ODD: odd } });
      expectSame("a value of several lines", kept.stdout, odd);
      const { stdout } = await lease.invoke({ executable: "/usr/bin/env", variables, inheritVariables: false });
      expectSame("the whole environment", stdout.trim().split("\n"), ["LAIT_CONTRACT=yes"]);
    }),
    contract("invoke: an abort ends the command and rejects with exactly its reason", async (lease) => {
      const controller = new AbortController();
      const work = lease.invoke({ ...sh("sleep 30"), signal: controller.signal });
      setTimeout(() => controller.abort("enough"), 100);
      expectSame("the reason", await rejection("the command", work), "enough");
    }),
    contract("invoke: a signal that is aborted already starts nothing", async (lease) => {
      const work = lease.invoke({ ...sh("touch lait-contract-never"), signal: AbortSignal.abort("no") });
      expectSame("the reason", await rejection("the command", work), "no");
      const { stdout } = await lease.invoke(sh("ls lait-contract-never 2>/dev/null; true"));
      expectSame("what was made", stdout, "");
    }),
    contract("invoke: a deadline ends the command, and what it said is kept", async (lease) => {
      const error = await rejection(
        "the command",
        lease.invoke({ ...sh("echo late >&2; sleep 30"), deadlineMs: 2_000 }),
      );
      expectThat(`a ProcessError of kind timeout was expected, got ${error}`, isProcess(error, "timeout"));
      expectSame("standard error", (error as ProcessError).output.stderr, "late\n");
    }),
    contract("invoke: too much output ends the command, unless only its end is kept", async (lease) => {
      const flood = sh("i=0; while [ $i -lt 3000 ]; do printf 0123456789; i=$((i+1)); done; printf END");
      const error = await rejection("the command", lease.invoke({ ...flood, maxBytes: 1000 }));
      expectThat(`a ProcessError of kind overflow was expected, got ${error}`, isProcess(error, "overflow"));
      expectSame("the end", (await lease.invoke({ ...flood, retain: 5 })).stdout, "89END");
    }),
    contract("invoke: a program that is not there is a spawn error", async (lease) => {
      const error = await rejection("the command", lease.invoke({ executable: "lait-no-such-program" }));
      expectThat(`a ProcessError of kind spawn was expected, got ${error}`, isProcess(error, "spawn"));
    }),
    contract(
      "invoke: a path of a program is taken from the root, and says when it may not be executed",
      async (lease) => {
        await lease.invoke(sh("mkdir -p lait-contract/sub; printf '#!/bin/sh\\necho ran' > lait-contract/run"));
        const own = { executable: "./lait-contract/run", directory: "lait-contract/sub" };
        const refused = await rejection("the command", lease.invoke(own));
        await lease.invoke(sh("chmod +x lait-contract/run"));
        const ran = await lease.invoke(own);
        await lease.invoke(sh("rm -rf lait-contract"));
        expectThat(`a ProcessError of kind spawn was expected, got ${refused}`, isProcess(refused, "spawn"));
        expectSame("standard output", ran.stdout, "ran\n");
      },
    ),
    contract("invoke: what runs on in the background does not hold the result up", async (lease) => {
      const { stdout } = await lease.invoke({ ...sh("sleep 60 & echo done"), deadlineMs: 30_000 });
      expectSame("standard output", stdout, "done\n");
    }),
    contract("invoke: output is observed while the command runs", async (lease) => {
      const seen: string[] = [];
      await lease.invoke({
        ...sh("printf a; printf b >&2"),
        observe: (channel, text) => void seen.push(channel + text),
      });
      expectSame("what was observed", seen.toSorted(), ["stderrb", "stdouta"]);
    }),
    contract("spawn: a program that is talked to", async (lease) => {
      const process = await lease.spawn({ executable: "cat", stdin: "piped" });
      const [writer, reader] = [process.stdin!.getWriter(), process.stdout.getReader()];
      await writer.write(new TextEncoder().encode("ping"));
      expectSame("the echo", new TextDecoder().decode((await reader.read()).value), "ping");
      await writer.close();
      expectSame("the status", await process.status, 0);
      await Promise.all([reader.cancel(), process.stderr.cancel()]);
    }),
    contract("upload and download: bytes and the executable bit as they are", async (lease) => {
      const folder = await Deno.makeTempDir();
      try {
        const bytes = new Uint8Array([0, 255, 10, 13, 0]);
        await Deno.writeFile(`${folder}/in`, bytes);
        await lease.upload(`${folder}/in`, "lait-contract-file");
        await lease.download("lait-contract-file", `${folder}/out`);
        expectSame("the bytes", [...await Deno.readFile(`${folder}/out`)], [...bytes]);
        if (Deno.build.os === "windows") return;
        const executable = async () => ((await Deno.stat(`${folder}/out`)).mode! & 0o100) !== 0;
        expectSame("executable", await executable(), false);
        await Deno.chmod(`${folder}/in`, 0o755);
        await lease.upload(`${folder}/in`, "lait-contract-file");
        expectSame("test -x", (await lease.invoke(sh("test -x lait-contract-file"))).status, 0);
        await lease.download("lait-contract-file", `${folder}/out`);
        expectSame("executable", await executable(), true);
      } finally {
        await lease.invoke(sh("rm -f lait-contract-file"));
        await Deno.remove(folder, { recursive: true });
      }
    }),
    contract("download: what cannot be read leaves the file that was there, and no other", async (lease) => {
      const folder = await Deno.makeTempDir();
      try {
        await Deno.writeTextFile(`${folder}/out`, "before");
        for (const path of ["lait-contract-none", "."]) {
          await rejection(`the download of ${path}`, lease.download(path, `${folder}/out`));
        }
        const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
        expectSame("the files", names, ["out"]);
        expectSame("the file", await Deno.readTextFile(`${folder}/out`), "before");
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    }),
    {
      name: "release: ends what still runs, may be called twice, and nothing starts after it",
      run: async () => {
        const lease = await acquire();
        const work = lease.invoke(sh("sleep 30")).then(() => "ended by itself", () => "rejected");
        await lease.release();
        await lease.release();
        expectSame("the running command", await work, "rejected");
        await rejection("a later command", lease.invoke(sh("true")));
      },
    },
  ];
}

function isProcess(error: unknown, kind: ProcessError["kind"]): boolean {
  return error instanceof ProcessError && error.kind === kind;
}
