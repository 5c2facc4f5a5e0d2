/** Taking secrets out of what is stored and told. */
import { ConfigurationError } from "../base/errors.ts";

/** Gives a copy of plain data with every match replaced. */
export type Redact = <Value>(value: Value) => Value;

const MASK = "[REDACTED]";

/** Refuses what is no list of regular expressions. */
export function checkRedact(what: string, rules: readonly RegExp[] | undefined): void {
  if (rules === undefined) return;
  if (!Array.isArray(rules) || rules.some((rule) => !(rule instanceof RegExp))) {
    throw new ConfigurationError(`${what}: redact must be a list of regular expressions`);
  }
  for (const rule of rules) {
    if (new RegExp(rule.source, rule.flags.replace(/[gy]/g, "")).test("")) {
      throw new ConfigurationError(`${what}: redact: ${rule} fits the empty text, so it would fit everywhere`);
    }
  }
}

/** Replaces the matches of the rules in every text of a value, the names of fields excepted. */
export function redactor(rules: readonly RegExp[] = []): Redact {
  if (rules.length === 0) return (value) => value;
  const all = rules.map((rule) => new RegExp(rule.source, rule.flags.replace(/[gy]/g, "") + "g"));
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") return all.reduce((text, rule) => text.replace(rule, MASK), value);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, walk(inner)]));
  };
  return (value) => walk(value) as typeof value;
}
