/**
 * The entries of `agents:` and `skills:`: single files, and collections (a directory such as `.claude/agents`, or a
 * glob) whose files have names of their own.
 */
import { FileError } from "../../base/errors.ts";
import { fileProblem } from "../../base/files.ts";
import { LIMITS } from "../../base/limits.ts";
import { basename, dirname, join, relative } from "../../deps/path.ts";
import { compilePathGlob } from "../../tool/glob.ts";
import type { Project } from "../project.ts";

/** What is registered: agents or skills. */
export type RegistryKind = "agents" | "skills";

/** The file that makes a directory a skill. */
export const SKILL_FILE = "SKILL.md";

/** One file of a registry. */
export interface RegistryFile {
  /** The key of the configuration that leads to it. */
  readonly key: string;
  /** The file, absolute. */
  readonly path: string;
  /** Set for a file of a collection: its name unless it says another. */
  readonly stem?: string;
}

/** Documents that stand beside agents and skills without being any, when they have no front matter. */
const DOCUMENTS = /^(readme|license|changelog|contributing|agents|claude|index)(\..*)?\.md$/i;

/** Whether a file of a collection is only a document about it. */
export function isDocument(path: string, text: string): boolean {
  return DOCUMENTS.test(basename(path)) && !/^\ufeff?\s*---/.test(text);
}

/**
 * The files that a registry's entry leads to. A path that is not there is one, and reading it will tell.
 *
 * @throws FileError when a directory cannot be read, or holds too many files
 */
export async function registryFiles(kind: RegistryKind, key: string, path: string): Promise<RegistryFile[]> {
  const info = await stat(path);
  if (info === undefined && /[*?]/.test(path)) return await globbed(kind, key, path);
  if (!info?.isDirectory) return [{ key, path }];
  if (kind === "skills") {
    const file = join(path, SKILL_FILE);
    if (await stat(file) !== undefined) return [{ key, path: file }];
  }
  return (await new Walk(kind).files(path)).map((file) => ({ key, path: file, stem: stemOf(file) }));
}

async function globbed(kind: RegistryKind, key: string, pattern: string): Promise<RegistryFile[]> {
  const fixed = pattern.slice(0, pattern.search(/[*?]/));
  const base = fixed.endsWith("/") ? fixed : dirname(fixed);
  const glob = compilePathGlob(slashes(relative(base, pattern)));
  const fits = (path: string) => glob.matches(slashes(relative(base, path)));
  const found = await stat(base) === undefined ? [] : await new Walk(kind, fits).files(base);
  if (found.length === 0) throw new FileError(`no file fits ${pattern}`);
  return found.map((file) => ({ key, path: file, stem: stemOf(file) }));
}

function slashes(path: string): string {
  return path.replaceAll("\\", "/");
}

/** The name of a file without its ending; of a `SKILL.md`, that of its directory. */
function stemOf(path: string): string {
  return basename(path) === SKILL_FILE ? basename(dirname(path)) : basename(path).replace(/\.[^.]+$/, "");
}

async function stat(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.stat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw new FileError(`cannot read ${path}: ${fileProblem(error)}`, { cause: error });
  }
}

/** Looks for the files of a collection, sorted. Links are followed, each directory is visited once. */
class Walk {
  readonly #kind: RegistryKind;
  readonly #fits: ((path: string) => boolean) | undefined;
  readonly #found: string[] = [];
  readonly #visited = new Set<string>();
  #entries = 0;

  /** With `fits`, only paths that it says yes to. */
  constructor(kind: RegistryKind, fits?: (path: string) => boolean) {
    this.#kind = kind;
    this.#fits = fits;
  }

  async files(directory: string): Promise<string[]> {
    await this.#walk(directory, 0);
    return this.#found;
  }

  async #walk(directory: string, depth: number): Promise<void> {
    const real = await Deno.realPath(directory);
    if (this.#visited.has(real)) return;
    this.#visited.add(real);
    const entries: Deno.DirEntry[] = [];
    try {
      for await (const entry of Deno.readDir(directory)) entries.push(entry);
    } catch (error) {
      throw new FileError(`cannot read ${directory}: ${fileProblem(error)}`, { cause: error });
    }
    this.#entries += entries.length;
    if (this.#entries > LIMITS.collectionEntries) {
      throw new FileError(
        `the collection ${directory} holds over ${LIMITS.collectionEntries} files; name a smaller one`,
      );
    }
    for (const { name } of entries.toSorted((a, b) => a.name < b.name ? -1 : 1)) {
      const path = join(directory, name);
      if (name.startsWith(".") || name === "node_modules") continue;
      const info = await stat(path);
      if (info?.isDirectory) await this.#directory(path, depth);
      else if (info?.isFile && this.#isWanted(path, depth)) this.#found.push(path);
    }
  }

  async #directory(path: string, depth: number): Promise<void> {
    const file = join(path, SKILL_FILE);
    if (this.#kind === "skills" && await stat(file) !== undefined) {
      // The other files of a skill belong to it.
      if (this.#fits === undefined || this.#fits(path) || this.#fits(file)) this.#found.push(file);
      return;
    }
    await this.#walk(path, depth + 1);
  }

  #isWanted(path: string, depth: number): boolean {
    if (!/\.md$/i.test(path)) return false;
    if (this.#fits !== undefined) return this.#fits(path);
    // Below the top, skills are directories.
    return this.#kind === "agents" || depth === 0;
  }
}

/** The configuration file that an entry stands in, by its number: a later one is stronger. */
export function layerOf(project: Project, kind: RegistryKind, key: string): number {
  return project.layers.findLastIndex(({ config }) => Object.hasOwn(config[kind] ?? {}, key));
}
