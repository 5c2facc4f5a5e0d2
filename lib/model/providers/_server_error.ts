/** Errors in the words of the server: the many forms of one JSON object. */
import { isJsonObject } from "../../base/json.ts";

/** What a server says about its failure. */
export interface ServerError {
  readonly message: string;
  /** Such as `insufficient_quota` or `model_not_found`; servers use either. */
  readonly code?: string;
  readonly type?: string;
}

/** The server reported an error where an answer was expected. */
export class ReportedError extends Error {
  /** What it said. */
  readonly reported: ServerError;

  /** Creates the error. */
  constructor(reported: ServerError) {
    super(reported.message);
    this.reported = reported;
  }
}

/** The error that a body holds: `error`, `message` or `detail`, at its top or in the first item of a list. */
export function serverErrorIn(body: unknown): ServerError | undefined {
  const top: unknown = Array.isArray(body) ? body[0] : body;
  if (!isJsonObject(top)) return undefined;
  const error = top["error"] ?? top["detail"];
  if (isUsable(error)) return serverErrorOf(error);
  const message = top["message"];
  return typeof message === "string" && message !== "" ? { ...serverErrorOf(top), message } : undefined;
}

/** Reads an error: an object with a `message`, a text, or anything else, shown as JSON. */
export function serverErrorOf(error: unknown): ServerError {
  if (!isJsonObject(error)) return { message: typeof error === "string" ? error : JSON.stringify(error) };
  const { message, code, type } = error as { message?: unknown; code?: unknown; type?: unknown };
  return {
    message: typeof message === "string" && message !== "" ? message : JSON.stringify(error),
    ...(typeof code === "string" || typeof code === "number" ? { code: String(code) } : {}),
    ...(typeof type === "string" ? { type } : {}),
  };
}

/** An error's facts under the names that `ModelError.details` has for them. */
export function errorFacts({ code, type }: ServerError): Record<string, string> {
  return { ...(code === undefined ? {} : { errorCode: code }), ...(type === undefined ? {} : { errorType: type }) };
}

/** Some servers send `error: null`, `false`, `""` or `{}` for none. */
export function isUsable(error: unknown): boolean {
  if (isJsonObject(error)) return Object.keys(error).length > 0;
  return error !== undefined && error !== null && error !== false && error !== "";
}
