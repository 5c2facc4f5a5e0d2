/**
 * Guards the house: which room may import which, what stands only in `lib/deps`, how big a file may get.
 *
 * Each rule is a pure function from sources to faults, so that made-up sources prove that it can fail.
 */
import { deepStrictEqual, match, ok } from "node:assert/strict";
import { posix } from "node:path";

/** The rooms from the ground up. A room may import itself and what is before it. */
const ROOMS = "deps base source jq schema model sandbox tool mcp harness dispatch project workflow quality testing cli"
  .split(" ");

const MOST_LINES = 400;
/** Path from the project's root → source. */
type Sources = Readonly<Record<string, string>>;
type Rule = (sources: Sources) => string[];

interface Import {
  readonly file: string;
  /** `file:line` of the specifier. */
  readonly place: string;
  readonly specifier: string;
  readonly kind: "import" | "export" | "dynamic";
  /** What stands between the keyword and `from`. */
  readonly clause: string;
  readonly typeOnly: boolean;
}

// In order: comments, texts, templates, regular expressions (only where a value may start).
const TOKENS =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`|(?<=(?:[(,=:[!&|?{};>]|\breturn|^)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/gm;

/** The code alone, line by line as it was: no comments; each text is `"#n"`, the nth of `texts`; no templates. */
function bare(source: string): { code: string; texts: string[] } {
  const texts: string[] = [];
  const code = source.replace(TOKENS, (token) => {
    if (token.startsWith('"') || token.startsWith("'")) return `"#${texts.push(token.slice(1, -1)) - 1}"`;
    return token.replace(/[^\n]/g, " ");
  });
  return { code, texts };
}

const STATEMENT = /(?<![.\w$])(import|export)\b(?!\s*\()([\w$\s{},*]*?)(?:\bfrom\b\s*|(?<=import\s*))"#(\d+)"/g;
const CALL = /(?<![.\w$])import\s*\(\s*"#(\d+)"/g;
const BEFORE_A_TYPE = /(?:\btypeof|[:<|&]|\btype\s+[\w$]+\s*=)\s*$/;

function importsOf(file: string, source: string): Import[] {
  const { code, texts } = bare(source);
  const lineAt = (index: number) => code.slice(0, index).split("\n").length;
  const found: Import[] = [];
  for (const statement of code.matchAll(STATEMENT)) {
    const clause = statement[2]!.trim();
    const names = /^\{([^}]*)\}$/.exec(clause)?.[1]?.split(",").map((name) => name.trim()).filter((name) =>
      name !== ""
    );
    found.push({
      file,
      place: `${file}:${lineAt(statement.index + statement[0].length)}`,
      specifier: texts[Number(statement[3])]!,
      kind: statement[1] as "import" | "export",
      clause,
      typeOnly: /^type\b(?!\s*,)/.test(clause) ||
        (names !== undefined && names.length > 0 && names.every((name) => name.startsWith("type "))),
    });
  }
  for (const call of code.matchAll(CALL)) {
    found.push({
      file,
      place: `${file}:${lineAt(call.index + call[0].length)}`,
      specifier: texts[Number(call[1])]!,
      kind: "dynamic",
      clause: "",
      typeOnly: BEFORE_A_TYPE.test(code.slice(0, call.index)),
    });
  }
  return found;
}

function allImports(sources: Sources): Import[] {
  return Object.entries(sources).filter(([file]) => file.startsWith("lib/") && file.endsWith(".ts"))
    .flatMap(([file, source]) => importsOf(file, source));
}

/** The file that a relative specifier means. */
function targetOf({ file, specifier }: Import): string | undefined {
  return specifier.startsWith(".") ? posix.join(posix.dirname(file), specifier) : undefined;
}

const roomOf = (file: string): string | undefined => /^lib\/([^/]+)\//.exec(file)?.[1];

const arrowsPointDown: Rule = (sources) => {
  const strays = Object.keys(sources).filter((file) => file.startsWith("lib/") && !ROOMS.includes(roomOf(file) ?? ""))
    .map((file) => `${file}: is in none of the rooms`);
  const faults = allImports(sources).flatMap((one) => {
    const target = targetOf(one);
    if (target === undefined) return [];
    const [from, to] = [roomOf(one.file) ?? "", roomOf(target)];
    if (to === undefined || !target.startsWith("lib/")) {
      return [`${one.place}: imports ${target}, which is not in a room`];
    }
    return ROOMS.indexOf(to) > ROOMS.indexOf(from) ? [`${one.place}: ${from} may not import ${to} (${target})`] : [];
  });
  return [...strays, ...faults];
};

const outsideComesByDeps: Rule = (sources) =>
  allImports(sources).filter((one) => !one.specifier.startsWith(".") && roomOf(one.file) !== "deps")
    .map((one) => `${one.place}: "${one.specifier}" may be imported only in lib/deps`);

const EXACT = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+(?:-[\w.]+)?(?:\/[\w./-]+)?|node:[\w/]+)$/;

const depsOnlyPassOn: Rule = (sources) => {
  const files = Object.keys(sources).filter((file) => roomOf(file) === "deps");
  return files.flatMap((file) => {
    const faults = importsOf(file, sources[file]!).flatMap((one) => {
      if (one.kind !== "export" || !/^(?:type\s*)?\{/.test(one.clause)) {
        return [`${one.place}: must be \`export { … } from\`, naming what it passes on`];
      }
      return EXACT.test(one.specifier) ? [] : [`${one.place}: "${one.specifier}" names no exact version`];
    });
    const { code } = bare(sources[file]!);
    for (const made of code.matchAll(/^export\s+(?!type\s*\{|\{|\*)(?:const\s+)?([\w$]+)/gm)) {
      if (!made[1]!.endsWith("_ENVIRONMENT")) faults.push(`${file}: makes something of its own (${made[1]})`);
    }
    if (!/^export const [A-Z][A-Z0-9_]*_ENVIRONMENT\b/m.test(code)) {
      faults.push(`${file}: has no constant *_ENVIRONMENT that lists the variables its package reads`);
    }
    return faults;
  });
};

const noCycles: Rule = (sources) => {
  const next = new Map<string, string[]>();
  for (const one of allImports(sources)) {
    const target = targetOf(one);
    if (target !== undefined && !one.typeOnly) next.set(one.file, [...(next.get(one.file) ?? []), target]);
  }
  const faults: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]) => {
    const seen = way.indexOf(file);
    if (seen >= 0) faults.push(`import each other in a circle: ${[...way.slice(seen), file].join(" → ")}`);
    if (seen >= 0 || done.has(file)) return;
    for (const target of next.get(file) ?? []) visit(target, [...way, file]);
    done.add(file);
  };
  for (const file of next.keys()) visit(file, []);
  return faults;
};

const versionIsOne: Rule = (sources) => {
  const manifest: unknown = JSON.parse(sources["deno.json"]!);
  const wanted = (manifest as { version?: unknown }).version;
  const found = /export const VERSION = "([^"]*)"/.exec(sources["lib/base/product.ts"]!)?.[1];
  return found === wanted ? [] : [`lib/base/product.ts: VERSION is ${found}, deno.json says ${wanted}`];
};

const filesAreShort: Rule = (sources) =>
  Object.entries(sources).filter(([file]) => file.startsWith("lib/")).flatMap(([file, source]) => {
    const lines = source.replace(/\n$/, "").split("\n").length;
    return lines > MOST_LINES ? [`${file}: has ${lines} lines, the most is ${MOST_LINES}`] : [];
  });

const pathsHaveExtensions: Rule = (sources) =>
  allImports(sources).filter((one) =>
    (roomOf(one.file) !== "deps" || one.specifier.startsWith(".")) &&
    !/^\.{1,2}\/(?:.*\/)?[^/]+\.(?:ts|json)$/.test(one.specifier)
  ).map((one) => `${one.place}: "${one.specifier}" is no relative path with an extension`);

/** The project's own sources. */
async function readSources(): Promise<Sources> {
  const root = new URL("../", import.meta.url);
  const sources: Record<string, string> = {};
  const read = async (folder: string) => {
    for await (const entry of Deno.readDir(new URL(folder, root))) {
      const path = `${folder}${entry.name}`;
      if (entry.isDirectory) await read(`${path}/`);
      else if (path.endsWith(".ts")) sources[path] = await Deno.readTextFile(new URL(path, root));
    }
  };
  await read("lib/");
  sources["deno.json"] = await Deno.readTextFile(new URL("deno.json", root));
  return sources;
}

const own = await readSources();

const env = "export const X_ENVIRONMENT = [] as const;\n";

/** What each rule must find in made-up sources; an empty list: nothing. */
const rules: [name: string, rule: Rule, proofs: [sources: Sources, faults: RegExp[]][]][] = [
  ["arrows between rooms point down", arrowsPointDown, [
    [{ "lib/tool/a.ts": 'import { x } from "../base/b.ts";\nimport "./c.ts";\nimport { y } from "../jq/jq.ts";' }, []],
    [{ "lib/base/a.ts": '\nimport { x } from "../tool/b.ts";' }, [/^lib\/base\/a\.ts:2: base may not import tool/]],
    [{ "lib/base/a.ts": 'import type { x } from "../tool/b.ts";' }, [/base may not import tool/]],
    [{ "lib/model/layers/a.ts": 'export * from "../../harness/b.ts";' }, [/model may not import harness/]],
    [{ "lib/model/a.ts": 'const a = 1;\nconst b = await import(\n  "../sandbox/b.ts"\n);' }, [
      /a\.ts:3: model may not/,
    ]],
    [{ "lib/model/a.ts": 'let a: import("../sandbox/b.ts").B;' }, [/model may not import sandbox/]],
    [{ "lib/cli/a.ts": 'import { x } from "../../mod.ts";' }, [/imports mod\.ts, which is not in a room/]],
    [{ "lib/cli/a.ts": 'import "../../tests/deps.ts";' }, [/imports tests\/deps\.ts/]],
    [{ "lib/cli/a.ts": 'import "../attic/b.ts";', "lib/attic/b.ts": "" }, [/attic\/b\.ts: is in none/]],
    [
      { "lib/base/a.ts": '// import "../tool/b.ts"\n/* import "../cli/c.ts" */\nconst t = `import "../cli/c.ts"`;' },
      [],
    ],
    [{ "lib/base/a.ts": 'const t = \'export { x } from "../cli/c.ts"\', r = /"/, s = x / 2;' }, []],
    [{ "lib/base/a.ts": 'const r = /[/"]/;\nimport { x } from "../cli/c.ts";' }, [/a\.ts:2: base may not import cli/]],
    [{ "lib/base/a.ts": 'const t = "// no comment"; import { x } from "../cli/c.ts";' }, [/base may not import cli/]],
    [{ "mod.ts": 'export { main } from "./lib/cli/main.ts";' }, []],
  ]],
  ["what comes from outside comes by lib/deps", outsideComesByDeps, [
    [{ "lib/deps/x.ts": 'export { x } from "npm:x@1.0.0";', "lib/base/a.ts": 'import { x } from "../deps/x.ts";' }, []],
    [{ "lib/base/a.ts": 'import { join } from "node:path";' }, [
      /^lib\/base\/a\.ts:1: "node:path" may be imported only/,
    ]],
    [{ "lib/base/a.ts": 'const x = await import("npm:x@1.0.0");' }, [/"npm:x@1\.0\.0"/]],
    [{ "lib/base/a.ts": 'import {\n  x,\n} from "jsr:@a/x@1";' }, [/a\.ts:3: "jsr:@a\/x@1"/]],
    [{ "lib/base/a.ts": 'import x from "https://example.com/x.ts";\nimport "zod";' }, [/"https:/, /"zod"/]],
  ]],
  ["files of lib/deps only pass on, at exact versions", depsOnlyPassOn, [
    [{
      "lib/deps/x.ts":
        `${env}export { x, type Y } from "npm:@a/x@1.2.3/sub/y.js";\nexport type { Z } from "npm:z@1.0.0-rc.1";`,
    }, []],
    [{ "lib/deps/x.ts": `${env}export { join } from "node:path";` }, []],
    [{ "lib/deps/x.ts": `${env}export { default as x } from "npm:x@^1.2.3";` }, [/names no exact version/]],
    [{ "lib/deps/x.ts": `${env}export { x } from "npm:x@1.2";\nexport { y } from "npm:y";` }, [/x@1\.2"/, /npm:y"/]],
    [{ "lib/deps/x.ts": `${env}export * from "npm:x@1.0.0";` }, [/x\.ts:2: must be/]],
    [{ "lib/deps/x.ts": `${env}export * as x from "npm:x@1.0.0";` }, [/must be/]],
    [{ "lib/deps/x.ts": `${env}import x from "npm:x@1.0.0";\nexport const y = x.y;` }, [/must be/, /of its own \(y\)/]],
    [{ "lib/deps/x.ts": `${env}export default 1;\nexport function f() {}` }, [/\(default\)/, /\(function\)/]],
    [{ "lib/deps/x.ts": 'export { x } from "npm:x@1.0.0";\n// export const X_ENVIRONMENT = [];' }, [
      /no constant \*_ENV/,
    ]],
  ]],
  ["no files import each other in a circle, types apart", noCycles, [
    [{ "lib/jq/a.ts": 'import { b } from "./b.ts";', "lib/jq/b.ts": 'import type { A } from "./a.ts";' }, []],
    [{ "lib/jq/a.ts": 'import { b } from "./b.ts";', "lib/jq/b.ts": 'import { type A } from "./a.ts";' }, []],
    [{ "lib/jq/a.ts": 'import { b } from "./b.ts";', "lib/jq/b.ts": 'let a: typeof import("./a.ts");' }, []],
    [{ "lib/jq/a.ts": 'import { b } from "./b.ts";', "lib/jq/b.ts": 'import { type A, a } from "./a.ts";' }, [
      /circle: lib\/jq\/a\.ts → lib\/jq\/b\.ts → lib\/jq\/a\.ts$/,
    ]],
    [{ "lib/jq/a.ts": 'export * from "./b.ts";', "lib/jq/b.ts": 'f(() => import("./a.ts"));' }, [/circle/]],
    [{ "lib/jq/a.ts": 'import "./a.ts";' }, [/circle: lib\/jq\/a\.ts → lib\/jq\/a\.ts$/]],
    [
      {
        "lib/jq/a.ts": 'import "./b.ts";\nimport "./c.ts";',
        "lib/jq/b.ts": 'import "./d.ts";',
        "lib/jq/c.ts": 'import "./d.ts";',
      },
      [],
    ],
    [{ "lib/jq/a.ts": 'import "./b.ts";', "lib/jq/b.ts": 'import "./c.ts";', "lib/jq/c.ts": 'import "./b.ts";' }, [
      /circle: lib\/jq\/b\.ts → lib\/jq\/c\.ts → lib\/jq\/b\.ts$/,
    ]],
  ]],
  ["VERSION is the manifest's", versionIsOne, [
    [{ "deno.json": '{"version":"1.2.3"}', "lib/base/product.ts": 'export const VERSION = "1.2.3";' }, []],
    [{ "deno.json": '{"version":"1.2.3"}', "lib/base/product.ts": 'export const VERSION = "1.2.4";' }, [
      /1\.2\.4.*1\.2\.3/,
    ]],
    [{ "deno.json": '{"version":"1.2.3"}', "lib/base/product.ts": "" }, [/undefined/]],
  ]],
  [`no file has over ${MOST_LINES} lines`, filesAreShort, [
    [{ "lib/jq/a.ts": "x\n".repeat(MOST_LINES), "tests/a.ts": "x\n".repeat(1_000) }, []],
    [{ "lib/jq/a.ts": "x\n".repeat(MOST_LINES + 1) }, [/^lib\/jq\/a\.ts: has 401 lines/]],
  ]],
  ["imports are relative paths with an extension", pathsHaveExtensions, [
    [{ "lib/jq/a.ts": 'import "./b.ts";\nimport x from "../base/x.json" with { type: "json" };' }, []],
    [{ "lib/deps/x.ts": 'export { x } from "npm:x@1.0.0";' }, []],
    [{ "lib/jq/a.ts": 'import { b } from "./b";' }, [/^lib\/jq\/a\.ts:1: "\.\/b" is no relative path/]],
    [{ "lib/jq/a.ts": 'import "..";\nimport "lib/base/b.ts";\nimport "/base/b.ts";' }, [/"\.\."/, /"lib/, /"\/base/]],
  ]],
];

for (const [name, rule, proofs] of rules) {
  Deno.test(`house: ${name}`, () => deepStrictEqual(rule(own), []));

  Deno.test(`house: the rule finds faults: ${name}`, () => {
    ok(proofs.some(([, faults]) => faults.length > 0));
    for (const [sources, faults] of proofs) {
      const found = rule(sources);
      deepStrictEqual(found.length, faults.length, `${JSON.stringify(sources)} gave ${JSON.stringify(found)}`);
      faults.forEach((fault, index) => match(found[index]!, fault));
    }
  });
}

Deno.test("house: the test reads the house", () => {
  ok(Object.keys(own).length > 20);
  ok(allImports(own).length > 50);
  // Every word `from` before a text, outside comments, was taken for an import: none is overlooked.
  for (const [file, source] of Object.entries(own).filter(([path]) => path.endsWith(".ts"))) {
    const { code } = bare(source);
    const written = [...code.matchAll(/(?:\bfrom|\bimport\s*\(?)\s*"#\d+"/g)].length;
    deepStrictEqual(importsOf(file, source).length, written, file);
  }
});
