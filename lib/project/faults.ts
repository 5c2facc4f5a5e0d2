/** Errors about values of a project: with the place where the value stands, when it stands in a file. */
import { ConfigurationError, type LaitError, SettingError } from "../base/errors.ts";
import type { EnvironmentReader } from "../base/environment.ts";
import { didYouMean } from "../base/nearest.ts";
import { mayReadVariable } from "../base/rights.ts";
import { expandVariables, ExpansionError } from "../source/expand.ts";
import type { Project } from "./project.ts";

/** Where a value stands in the project's files: the keys that lead to it. */
export type SettingPath = readonly (string | number)[];

/** `${VAR}` in a value of a file, replaced; a fault names the value's place. */
export function expandAt(
  project: Project,
  value: string,
  path: SettingPath,
  environment: EnvironmentReader,
): string {
  try {
    return expandVariables(value, environment);
  } catch (error) {
    if (!(error instanceof ExpansionError)) throw error;
    const hint = error.variable === undefined || !mayReadVariable(error.variable)
      ? undefined
      : `export ${error.variable}, or put it into .env`;
    throw new SettingError(project.fault([...path], "unset-variable", `${dotted(path)}: ${error.message}`, hint));
  }
}

/** A path as messages show it: `models.draft[0].model_id`. */
export function dotted(path: SettingPath): string {
  return path.map((step, index) => typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`).join("");
}

/** A name that a registry does not have. */
export interface UnknownName {
  /** What is named: `tool`, `agent`. */
  readonly kind: string;
  readonly name: string;
  /** The registry's key, such as `tools`. */
  readonly key: string;
  readonly known: readonly string[];
  /** Where the name stands; undefined when the caller gave it. */
  readonly path: SettingPath | undefined;
}

/** The error for a name that a registry does not have; says what there is, and the nearest. */
export function unknownName(project: Project, { kind, name, key, known, path }: UnknownName): LaitError {
  const message = `unknown ${kind} '${name}': it is not under \`${key}:\` in lait.config.yml`;
  const hint = didYouMean(name, known) ??
    (known.length === 0 ? `there is no \`${key}:\`` : `\`${key}:\` has ${known.join(", ")}`);
  return settingFault(project, path, `unknown-${kind.toLowerCase().replaceAll(" ", "-")}`, message, hint);
}

/** An error with the place of a value, or without one when the caller gave it. */
export function settingFault(
  project: Project,
  path: SettingPath | undefined,
  id: string,
  message: string,
  hint?: string,
): LaitError {
  if (path !== undefined) return new SettingError(project.fault([...path], id, message, hint));
  return new ConfigurationError(hint === undefined ? message : `${message}; ${hint}`);
}
