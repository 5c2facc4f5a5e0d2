/** A project: its configuration files read, checked and merged. Nothing is started by it. */
import type { EnvironmentReader } from "../base/environment.ts";
import { DiagnosticError } from "../base/errors.ts";
import type { Diagnostic, Place } from "../base/diagnostic.ts";
import { readTextBounded } from "../base/files.ts";
import { untilAborted } from "../base/signals.ts";
import { dirname, relative, resolve } from "../deps/path.ts";
import { placeOf, readShape } from "../source/shape.ts";
import type { TextPlace } from "../source/text_place.ts";
import { readYaml } from "../source/yaml.ts";
import { type Config, configShape } from "./config_shape.ts";
import { findGlobalConfig, findProjectConfig } from "./discover.ts";
import { mergeConfigs } from "./merge.ts";

/** How a project is found. */
export interface ProjectOptions {
  /** Where the search starts; absolute. */
  readonly directory: string;
  /** Exactly this file: no search, no global file. */
  readonly config?: string;
  /** No file at all. */
  readonly noConfig?: boolean;
  readonly environment: EnvironmentReader;
  /** Gives up waiting for a file, such as a pipe that nobody writes to. */
  readonly signal?: AbortSignal;
}

/** One configuration file. */
export interface ConfigLayer {
  readonly file: string;
  readonly config: Config;
}

/** What the files say together. */
export class Project {
  /** The files, the strongest last. */
  readonly layers: readonly ConfigLayer[];
  /** The merged configuration. Registry paths are absolute. */
  readonly config: Config;
  /** The directory that lait was started in; absolute. */
  readonly directory: string;
  readonly #files = new Map<string, { readonly name: string; readonly value: object }>();
  readonly #fileKeys = new WeakMap<object, string>();

  /** Use {@link openProject}. */
  constructor(directory: string, layers: readonly ConfigLayer[]) {
    this.directory = directory;
    this.layers = Object.freeze([...layers]);
    this.config = mergeConfigs(layers.map(({ file, config }) => ({ directory: dirname(file), config })));
    Object.freeze(this);
  }

  /**
   * Makes the places of another file known, such as an agent's: paths that start with what this gives back lead into
   * `value`, as `readShape` made it.
   */
  addFile(name: string, value: object): readonly string[] {
    const key = this.#fileKeys.get(value) ?? `file:${this.#files.size}:${name}`;
    this.#fileKeys.set(value, key);
    this.#files.set(key, { name, value });
    return [key];
  }

  /** Where the value stands that counts: in the strongest file that has it. */
  placeOf(...path: (string | number)[]): TextPlace | undefined {
    const [first, ...rest] = path;
    const file = this.#files.get(String(first));
    if (file !== undefined) return placeOf(file.value, ...rest) ?? placeOf(file.value) ?? { file: file.name };
    for (const { config } of this.layers.toReversed()) {
      const place = placeOf(config, ...path);
      if (place !== undefined) return place;
    }
    return undefined;
  }

  /** The same project with the models of another file, which are stronger than its own; `config` as `readShape` made it. */
  withModels(file: string, config: Pick<Config, "models">): Project {
    return new Project(this.directory, [...this.layers, { file, config }]);
  }

  /** A path that a value holds, relative to the directory of the file that it stands in. */
  pathBeside(path: (string | number)[], value: string): string {
    const layer = this.layers.findLast(({ config }) => placeOf(config, ...path) !== undefined);
    return resolve(layer === undefined ? this.directory : dirname(layer.file), value);
  }

  /** A diagnostic about a value, at its place, else at the project's file. */
  fault(path: (string | number)[], id: string, message: string, hint?: string): Diagnostic {
    const place: Place = this.placeOf(...path) ?? { file: this.layers.at(-1)?.file ?? "lait.config.yml" };
    return { id, severity: "error", place, message, ...(hint === undefined ? {} : { hint }) };
  }
}

/**
 * Finds and reads the configuration.
 *
 * @throws DiagnosticError with all faults of a file at once
 * @throws FileError when a file cannot be read, or two compete
 */
export async function openProject(options: ProjectOptions): Promise<Project> {
  const { directory, config, noConfig, environment, signal } = options;
  if (noConfig) return new Project(directory, []);
  const files = config !== undefined
    ? [resolve(directory, config)]
    : [await findGlobalConfig(environment), await findProjectConfig(directory)].filter((file) => file !== undefined);
  const layers: ConfigLayer[] = [];
  for (const file of files) layers.push({ file, config: await untilAborted(readConfig(file, directory), signal) });
  return new Project(directory, layers);
}

async function readConfig(file: string, directory: string): Promise<Config> {
  const text = await readTextBounded(file);
  const shown = shownPath(file, directory);
  const { root, diagnostics } = readYaml(text, shown);
  const faults: Diagnostic[] = [...diagnostics];
  // An empty file is an empty configuration.
  const config = root === undefined ? {} : readShape(configShape, root, faults);
  if (faults.length > 0) throw new DiagnosticError(faults);
  return config!;
}

/** The path relative to the current directory when that is shorter to read, else as it is. */
export function shownPath(file: string, directory: string): string {
  const path = relative(directory, file);
  return path === "" || path.startsWith("..") ? file : path;
}
