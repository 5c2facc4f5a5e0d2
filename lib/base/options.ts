/** Checks for the options of the API: unknown keys are refused, numbers are checked when given. */
import { ConfigurationError } from "./errors.ts";
import { nearest } from "./nearest.ts";

/** Refuses anything but an object whose keys are all in `keys`; the message names the accepted ones and the nearest. */
export function checkKeys(what: string, value: unknown, keys: readonly string[]): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ConfigurationError(`${what} must be an object`);
  }
  for (const key of Object.keys(value)) {
    if (keys.includes(key)) continue;
    const near = nearest(key, keys);
    const hint = near === undefined ? "" : `; did you mean \`${near}\`?`;
    throw new ConfigurationError(`${what}: unknown option \`${key}\` (accepted: ${keys.join(", ")})${hint}`);
  }
}

/** Refuses a number that is not a safe integer of at least `minimum`; undefined passes. */
export function checkInteger(what: string, value: unknown, minimum: number): void {
  if (value === undefined) return;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < minimum) {
    throw new ConfigurationError(`${what} must be an integer of at least ${minimum} (got ${String(value)})`);
  }
}

/** Refuses a number outside `minimum`–`maximum`, both included; undefined passes. */
export function checkRange(what: string, value: unknown, minimum: number, maximum: number): void {
  if (value === undefined) return;
  if (typeof value !== "number" || !(value >= minimum && value <= maximum)) {
    throw new ConfigurationError(`${what} must be a number from ${minimum} to ${maximum} (got ${String(value)})`);
  }
}

/** Refuses a value that is none of `accepted`; undefined passes. */
export function checkOneOf(what: string, value: unknown, accepted: readonly unknown[]): void {
  if (value === undefined || accepted.includes(value)) return;
  throw new ConfigurationError(
    `${what} must be one of ${accepted.map((v) => JSON.stringify(v)).join(", ")} (got ${JSON.stringify(value)})`,
  );
}

/** Refuses a text that is missing or blank. */
export function checkText(what: string, value: unknown): void {
  if (typeof value !== "string" || value.trim() === "") {
    throw new ConfigurationError(`${what} must be a non-blank text`);
  }
}
