import assert from "node:assert/strict";
import { type LaitProcess, Workspace } from "../cli/_lait.ts";
import { REPOSITORY } from "../_support/process.ts";
import { mcpWorkspace } from "./_mcp.ts";

const PROGRAM = `${REPOSITORY}tests/servers/oauth_server.ts`;
const FILE = "~/.config/lait/mcp/g.json";

/** A server that wants a login, as a process of its own. */
async function guarded(work: Workspace, plan: object = {}): Promise<{ url: string; server: LaitProcess }> {
  const words = [Deno.execPath(), "run", "-A", "--cached-only", "--quiet", "--no-check", PROGRAM, JSON.stringify(plan)];
  const server = work.startProgram(words, { stdin: "open" });
  await server.saw(/^http:\S+$/m);
  return { url: /^http:\S+$/m.exec(server.stdout)![0], server };
}

async function workspace(url: string, auth: unknown = "oauth"): Promise<Workspace> {
  return await mcpWorkspace({ g: { url, auth } }, [{ calls: [{ name: "g__whoami" }] }, "{{ last }}"]);
}

/** Logs in as a user with a browser would; what the browser was told. */
async function logIn(work: Workspace): Promise<{ code: number; stderr: string; page: string }> {
  const lait = work.start(["mcp", "login", "g"]);
  await lait.saw(/^ {2}http:\S+$/m);
  const address = /^ {2}(http:\S+)$/m.exec(lait.stderr)![1]!;
  const redirect = new URL(new URL(address).searchParams.get("redirect_uri")!);
  // An answer that knows no state changes nothing.
  redirect.searchParams.set("code", "forged");
  const forged = await fetch(redirect);
  assert.deepEqual([forged.status, await forged.text()], [400, "this answer belongs to no login\n"]);
  const response = await fetch(address);
  const page = await response.text();
  const { code, stderr } = await lait.ended();
  return { code, stderr, page };
}

Deno.test("oauth: without a login a run says which command to use, and sends nobody away", async () => {
  await using place = await Workspace.create();
  const { url, server } = await guarded(place);
  await using work = await workspace(url);
  const { code, stderr } = await work.run(["hi"]);
  assert.equal(code, 1);
  assert.match(stderr, /mcp_servers\.g: the server wants a login \(tools\); run `lait mcp login g`/);
  await server.kill();
});

Deno.test("oauth: a login is kept for its owner alone, is used and renewed, and is forgotten by logout", async () => {
  await using place = await Workspace.create();
  const { url, server } = await guarded(place, { uses: 5 });
  await using work = await workspace(url);
  const { code, stderr, page } = await logIn(work);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^note: logged in at g$/m);
  assert.equal(page, "Logged in. This page can be closed.\n");
  assert.match(server.stdout, /^registered lait http:\/\/127\.0\.0\.1:\d+\/callback$/m);
  const info = await Deno.stat(work.path(FILE));
  const folder = await Deno.stat(work.path("~/.config/lait/mcp"));
  assert.deepEqual([info.mode! & 0o777, folder.mode! & 0o777], [0o600, 0o700]);
  for (let run = 0; run < 3; run++) {
    const ran = await work.run(["hi"]);
    assert.deepEqual([ran.code, ran.stdout, ran.stderr], [0, "somebody\n", ""]);
  }
  // Three runs are over five uses of a token: it was renewed, and nobody was asked.
  assert([...server.stdout.matchAll(/^grant refresh_token$/gm)].length >= 1);
  assert.equal([...server.stdout.matchAll(/^grant authorization_code$/gm)].length, 1);
  assert.equal((await Deno.stat(work.path(FILE))).mode! & 0o777, 0o600);
  const again = await logIn(work);
  assert.equal(again.code, 0);
  // The same port is used again, so the client that was registered still fits.
  assert.equal([...server.stdout.matchAll(/^registered/gm)].length, 1);
  const out = await work.run(["mcp", "logout", "g"]);
  assert.deepEqual([out.code, out.stderr], [0, "note: logged out of g\n"]);
  assert(!await work.exists(FILE));
  assert.match((await work.run(["mcp", "logout", "g"])).stderr, /there was no login at g/);
  assert.match((await work.run(["hi"])).stderr, /wants a login/);
  await server.kill();
});

Deno.test("oauth: no token is shown at any verbosity, and none is sent to another address", async () => {
  await using place = await Workspace.create();
  const { url, server } = await guarded(place);
  await using work = await workspace(url);
  assert.equal((await logIn(work)).code, 0);
  const { tokens } = JSON.parse(await work.read(FILE)) as { tokens: { access_token: string; refresh_token: string } };
  const { code, stdout, stderr } = await work.run(["-v", "-v", "hi"]);
  assert.equal(code, 0);
  for (const secret of [tokens.access_token, tokens.refresh_token]) assert(!`${stdout}${stderr}`.includes(secret));
  const seen: (string | null)[] = [];
  const other = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    seen.push(request.headers.get("authorization"));
    return new Response(null, { status: 401 });
  });
  const moved = { g: { url: `http://127.0.0.1:${other.addr.port}/mcp`, auth: "oauth" } };
  const config = { default: { model: "s", mcp: ["g"] }, models: { s: [{ provider: { script: "script.json" } }] } };
  await work.write("lait.config.yml", JSON.stringify({ ...config, mcp_servers: moved }));
  assert.equal((await work.run(["hi"])).code, 1);
  assert(seen.length > 0 && seen.every((header) => header === null));
  await other.shutdown();
  await server.kill();
});

Deno.test("oauth: a user who says no, a client nobody knows, and an interruption end the login", async () => {
  await using place = await Workspace.create();
  const refusing = await guarded(place, { refuses: true });
  await using work = await workspace(refusing.url);
  const { code, stderr, page } = await logIn(work);
  assert.equal(code, 1);
  assert.match(stderr, /mcp_servers\.g: the login failed: access_denied/);
  assert.equal(page, "The login was refused. This page can be closed.\n");
  await using stranger = await workspace(refusing.url, { client_id: "nobody" });
  const strange = stranger.start(["mcp", "login", "g"]);
  await strange.saw(/^ {2}http:\S+$/m);
  const told = await fetch(/^ {2}(http:\S+)$/m.exec(strange.stderr)![1]!);
  assert.match(await told.text(), /Invalid client_id/);
  strange.signal("SIGINT");
  assert.equal((await strange.ended()).code, 130);
  await refusing.server.kill();
});

Deno.test("oauth: a server that wants no login says so, and one that cannot be reached is named", async () => {
  const open = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => Response.json({ jsonrpc: "2.0", id: 0, result: {} }),
  );
  await using work = await workspace(`http://127.0.0.1:${open.addr.port}/mcp`);
  const { code, stderr } = await work.run(["mcp", "login", "g"]);
  assert.deepEqual([code, stderr], [0, "note: g answers without a login\n"]);
  await open.shutdown();
  const gone = await work.run(["mcp", "login", "g"]);
  assert.equal(gone.code, 1);
  assert.match(gone.stderr, /mcp_servers\.g: the login failed: /);
});
