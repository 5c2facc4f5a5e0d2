/** Copies of JSON values: what callers give is never changed, nor can they change what was taken. */
import { isJsonObject, jsonTypeOf, type JsonValue, setOwn } from "../base/json.ts";
import { SchemaError } from "./error.ts";
import { formatPath, type PathSegment } from "./paths.ts";

/**
 * A deep copy of a value made of plain data. Own `__proto__` keys stay data; keys whose value is undefined are left
 * out, as JSON text would leave them out.
 *
 * @param value The value to copy.
 * @param label What its root is called in an error's path.
 * @throws {SchemaError} When something in it is no JSON value, or when it is nested too deeply or holds itself.
 */
export function copyJson(value: unknown, label: string): JsonValue {
  try {
    return copy(value, label, []);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SchemaError(label, `${label} is nested too deeply, or contains itself`, { cause: error });
  }
}

/** Freezes a copy made by `copyJson`, all the way down. */
export function freezeJson<T extends JsonValue>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) freezeJson(inner);
    Object.freeze(value);
  }
  return value;
}

function copy(value: unknown, label: string, path: PathSegment[]): JsonValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value)) {
    return Array.from(value, (item: unknown, index) => step(item, label, path, index));
  }
  if (isJsonObject(value) && isPlain(value)) {
    const result = {};
    for (const [key, inner] of Object.entries(value)) {
      if (inner !== undefined) setOwn(result, key, step(inner, label, path, key));
    }
    return result;
  }
  const where = formatPath(label, path);
  throw new SchemaError(where, `${where} is no JSON value (got ${nameOf(value)})`);
}

// One path for the whole walk: it is turned into text only when something is wrong.
function step(value: unknown, label: string, path: PathSegment[], segment: PathSegment): JsonValue {
  path.push(segment);
  const result = copy(value, label, path);
  path.pop();
  return result;
}

// By the shape of the prototype, not its identity: objects of another realm are plain too.
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: unknown): string {
  if (typeof value === "number") return String(value);
  const maker: unknown = typeof value === "object" && value !== null ? value.constructor : undefined;
  return typeof maker === "function" ? maker.name : jsonTypeOf(value);
}
