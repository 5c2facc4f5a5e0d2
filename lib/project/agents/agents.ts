/** The agents of a project: by name or by file, each read once for the whole invocation. */
import { FileError } from "../../base/errors.ts";
import { resolve } from "../../deps/path.ts";
import type { SettingPath } from "../faults.ts";
import { type Project, shownPath } from "../project.ts";
import { type AgentDefinition, readAgentFile } from "./agent.ts";
import type { RegistryFile } from "./entries.ts";
import { foreignInAgents } from "./foreign.ts";
import { type ListedEntry, type Note, Registry, type RegistryItem } from "./registry.ts";

/** Folders whose agents other programs read, too. */
const OTHERS_FOLDER = /[/\\]\.(claude|agents)[/\\]/;

interface Item extends RegistryItem {
  readonly definition: AgentDefinition;
}

/** See the module. */
export class ProjectAgents {
  readonly #project: Project;
  readonly #note: Note;
  readonly #registry: Registry<Item>;

  /** The agents of a project; `note` is told what was left out of files that were written for other programs. */
  constructor(project: Project, note: Note = () => {}) {
    this.#project = project;
    this.#note = note;
    const read = (file: RegistryFile) => this.#read(file);
    this.#registry = new Registry<Item>(project, { kind: "agents", noun: "agent", read }, note);
  }

  /**
   * The agent of an `agents:` entry; `path` is where the name stands in the files.
   *
   * @throws the errors of `readAgentFile`, or one that says which names there are
   */
  async named(name: string, options: { readonly noun?: string; readonly path?: SettingPath } = {}): Promise<
    AgentDefinition
  > {
    return this.#registry.use((await this.#registry.find(name, options)).item).definition;
  }

  /**
   * The agent of a file, relative to the current directory.
   *
   * @throws the errors of `readAgentFile`
   */
  async file(path: string): Promise<AgentDefinition> {
    const item = await this.#registry.read({ key: path, path: resolve(this.#project.directory, path) });
    return this.#registry.use(item!).definition;
  }

  /**
   * What a person means by a word: a file when there is one, else an entry of `agents:`, else a file that is missing.
   * What is not plain from the word is told as a note.
   */
  async meant(word: string): Promise<AgentDefinition> {
    const path = resolve(this.#project.directory, word);
    const isFile = await Deno.stat(path).then(({ isDirectory }) => !isDirectory, () => false);
    const isName = await this.#registry.has(word);
    if (isFile) {
      if (isName) this.#note(`the file ${word} is used, not the entry \`${word}\` of \`agents:\``);
      return await this.file(word);
    }
    if (isName) {
      const { path, item } = await this.#registry.find(word);
      this.#note(`agent \`${word}\` is ${path}`);
      return this.#registry.use(item).definition;
    }
    const looksLikeFile = /[/\\]|\.md$/i.test(word);
    if (!looksLikeFile) {
      const names = await this.names();
      if (names.length > 0) await this.#registry.find(word);
      throw new FileError(`no agent ${word}: there is no such file, and no \`agents:\` in lait.config.yml`);
    }
    return await this.file(word);
  }

  /** The names of all agents, sorted. */
  async names(): Promise<readonly string[]> {
    return await this.#registry.names();
  }

  /** Every agent, sorted by name. */
  async list(): Promise<ListedEntry[]> {
    return await this.#registry.list();
  }

  async #read({ path, stem }: RegistryFile): Promise<Item | undefined> {
    const isForeign = stem !== undefined || OTHERS_FOLDER.test(path);
    const definition = await readAgentFile(path, {
      shown: shownPath(path, this.#project.directory),
      ...(isForeign ? { foreign: foreignInAgents(Object.keys(this.#project.config.tools ?? {})) } : {}),
      mayBeDocument: stem !== undefined,
    });
    if (definition === undefined) return undefined;
    const { name, description } = definition.fields;
    return { name, description, remark: definition.remark, definition };
  }
}
