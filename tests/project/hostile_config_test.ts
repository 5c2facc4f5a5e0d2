import assert from "node:assert/strict";
import { DiagnosticError, LaitError, messageChain } from "../../lib/base/errors.ts";
import { exitCodeOf } from "../../lib/cli/exit.ts";
import { ProjectSession } from "../../lib/project/open.ts";
import { openProject } from "../../lib/project/project.ts";
import { resolveSettings } from "../../lib/project/settings.ts";

const FOLDER = new URL("../../fixtures/hostile/config/", import.meta.url).pathname;
const files = (await Array.fromAsync(Deno.readDir(FOLDER))).map(({ name }) => name).toSorted();
const environment = () => undefined;

/** What a request with this configuration comes to, up to the request itself. */
async function open(file: string): Promise<unknown> {
  try {
    const project = await openProject({ directory: FOLDER.slice(0, -1), config: file, environment });
    const settings = resolveSettings(project, {}, environment);
    const session = new ProjectSession(project, { environment, signal: new AbortController().signal });
    await session.agent(settings, { streaming: false, wantUsage: false });
    return undefined;
  } catch (error) {
    return error;
  }
}

Deno.test("hostile configurations: there are at least 60 of them", () => assert(files.length >= 60));

for (const file of files) {
  Deno.test(`hostile configuration: ${file}`, async (t) => {
    const error = await open(file);
    assert(error instanceof LaitError, `expected an error of lait's own, got ${error}`);
    const exit = exitCodeOf(error);
    const lines = messageChain(error).split("\n");
    if (error instanceof DiagnosticError) {
      assert.equal(exit, 3);
      for (const { place, id } of error.diagnostics) {
        assert(place.line !== undefined && place.column !== undefined, `${id} has no line and column`);
        assert.match(id, /^[a-z]+(-[a-z]+)*$/);
      }
    } else {
      assert.equal(exit, 1);
    }
    const shown = lines.map((line) => line.replaceAll(FOLDER, ""));
    await t.assertSnapshot([`exit ${exit}`, ...shown].join("\n"));
  });
}
