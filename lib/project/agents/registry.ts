/** A registry of files: which there are, under which names, each read once for the whole invocation. */
import { LaitError, messageOf, SettingError } from "../../base/errors.ts";
import { unknownName } from "../faults.ts";
import type { SettingPath } from "../faults.ts";
import { type Project, shownPath } from "../project.ts";
import { layerOf, type RegistryFile, registryFiles, type RegistryKind } from "./entries.ts";

/** What a file of a registry says, whatever it is. */
export interface RegistryItem {
  /** The name that the file gives itself. */
  readonly name: string | undefined;
  readonly description: string | undefined;
  /** What to tell whoever uses it; undefined for nothing. */
  readonly remark: string | undefined;
}

/** Takes a message that is good to know. */
export type Note = (message: string) => void;

/** An entry for a list: what it is, or why that cannot be told. */
export type ListedEntry = Omit<RegistryEntry<unknown>, "item"> & { readonly description: string | undefined };

/** An entry: its name, its file, and what it holds or why that cannot be told. */
export interface RegistryEntry<Item> {
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly item: Item | undefined;
  readonly failure: unknown;
}

/** How the files of a registry are read. */
export interface RegistryReader<Item extends RegistryItem> {
  readonly kind: RegistryKind;
  /** What one of its entries is called in messages: `agent`, `subagent`. */
  readonly noun: string;
  /** Reads a file; undefined when it is only a document beside the others of a collection. */
  read(file: RegistryFile): Promise<Item | undefined>;
}

/** See the module. */
export class Registry<Item extends RegistryItem> {
  readonly #project: Project;
  readonly #reader: RegistryReader<Item>;
  readonly #read = new Map<string, Promise<Item | undefined>>();
  readonly #note: Note;
  readonly #told = new Set<string>();
  #entries: Promise<readonly RegistryEntry<Item>[]> | undefined;

  /** A registry of a project; nothing is read yet. `note` is told the remarks of what is used. */
  constructor(project: Project, reader: RegistryReader<Item>, note: Note) {
    this.#project = project;
    this.#reader = reader;
    this.#note = note;
  }

  /** Every entry, sorted by name; an entry that cannot be read has its failure. */
  entries(): Promise<readonly RegistryEntry<Item>[]> {
    return this.#entries ??= this.#list();
  }

  /** The names of all entries, sorted. */
  async names(): Promise<readonly string[]> {
    return (await this.entries()).map(({ name }) => name);
  }

  /** Every entry for a list, sorted by name; all of them are used by that. */
  async list(): Promise<ListedEntry[]> {
    const entries = await this.entries();
    for (const { item } of entries) if (item !== undefined) this.use(item);
    return entries.map(({ item, ...entry }) => ({ ...entry, description: item?.description }));
  }

  /** Tells the remark of an item, once, and gives the item back. */
  use(item: Item): Item {
    const { remark } = item;
    if (remark !== undefined && !this.#told.has(remark)) {
      this.#told.add(remark);
      this.#note(remark);
    }
    return item;
  }

  /** Whether there is an entry of this name. */
  async has(name: string): Promise<boolean> {
    return (await this.names()).includes(name);
  }

  /**
   * The entry of a name; `path` is where the name stands in the files, and `noun` what messages call it there.
   *
   * @throws the failure of the entry, or an error that says which names there are
   */
  async find(
    name: string,
    { noun = this.#reader.noun, path }: { readonly noun?: string; readonly path?: SettingPath } = {},
  ): Promise<{ readonly path: string; readonly item: Item }> {
    const entries = await this.entries();
    const entry = entries.find((entry) => entry.name === name);
    const { kind } = this.#reader;
    if (entry === undefined) {
      // A collection that cannot be read may hold it.
      const broken = entries.find(({ failure, item }) => item === undefined && failure instanceof CollectionFailure);
      if (broken !== undefined) throw (broken.failure as CollectionFailure).cause;
      throw unknownName(this.#project, { kind: noun, name, key: kind, known: entries.map(({ name }) => name), path });
    }
    if (entry.item === undefined) {
      throw entry.failure instanceof CollectionFailure ? entry.failure.cause : entry.failure;
    }
    return { path: entry.path, item: entry.item };
  }

  /** Reads a file, once. */
  read(file: RegistryFile): Promise<Item | undefined> {
    const key = `${file.stem === undefined ? "file" : "collection"} ${file.path}`;
    let item = this.#read.get(key);
    if (item === undefined) this.#read.set(key, item = this.#reader.read(file));
    return item;
  }

  async #list(): Promise<readonly RegistryEntry<Item>[]> {
    const { kind } = this.#reader;
    const found = await Promise.all(
      Object.entries(this.#project.config[kind] ?? {}).map(([key, path]) => this.#entriesOf(key, path)),
    );
    const byName = new Map<string, (RegistryEntry<Item> & { readonly key: string })[]>();
    for (const entry of found.flat()) byName.set(entry.name, [...byName.get(entry.name) ?? [], entry]);
    const entries = await Promise.all([...byName.values()].map((same) => this.#chosen(same)));
    return entries.toSorted((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  }

  async #entriesOf(key: string, path: string): Promise<(RegistryEntry<Item> & { readonly key: string })[]> {
    let files: readonly RegistryFile[];
    try {
      files = await registryFiles(this.#reader.kind, key, path);
    } catch (error) {
      return [{ key, name: key, path, item: undefined, failure: new CollectionFailure(error) }];
    }
    const entries: (RegistryEntry<Item> & { readonly key: string })[] = [];
    // One after the other: a collection may hold more files than a process may open.
    for (const file of files) {
      const name = file.stem ?? key;
      try {
        const item = await this.read(file);
        if (item === undefined) continue;
        const own = file.stem === undefined ? key : item.name ?? name;
        entries.push({ key, name: own, path: file.path, item, failure: undefined });
      } catch (failure) {
        entries.push({ key, name, path: file.path, item: undefined, failure });
      }
    }
    return entries;
  }

  /** Of several entries of one name, that of the strongest configuration file; two of one file are a fault. */
  async #chosen(same: readonly (RegistryEntry<Item> & { readonly key: string })[]): Promise<RegistryEntry<Item>> {
    const { kind, noun } = this.#reader;
    const layers = same.map(({ key }) => layerOf(this.#project, kind, key));
    const strongest = same.filter((_, index) => layers[index] === Math.max(...layers));
    const first = strongest[0]!;
    const files = new Set(await Promise.all(strongest.map(({ path }) => Deno.realPath(path).catch(() => path))));
    if (files.size < 2) return first;
    const shown = strongest.map(({ path }) => shownPath(path, this.#project.directory));
    const message = `two ${noun}s are called \`${first.name}\`: ${shown.join(" and ")}`;
    const failure = new SettingError(
      this.#project.fault([kind, strongest[1]!.key], `duplicate-${noun}`, message, "rename one of them"),
    );
    return { name: first.name, path: first.path, item: undefined, failure };
  }
}

/** A collection whose files cannot be told. */
class CollectionFailure extends LaitError {
  constructor(cause: unknown) {
    super("file", messageOf(cause), { cause });
  }
}
