/** The error for an answer whose status is not 2xx. */
import { ModelError } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { decodeUtf8Lossy, joinBytes } from "../../base/text.ts";
import { retryAfter } from "./retry_after.ts";
import { errorFacts, type ServerError, serverErrorIn } from "./_server_error.ts";

/** How a refusal is worded. */
export interface RefusalContext {
  /** The address as it may be shown. */
  readonly url: string;
  /** A text of the server as it may be shown; `cut` when it goes on. */
  quote(text: string, cut?: boolean): string;
}

/** Reads what is needed of a refusing answer; it never throws because of its body. */
export async function refusalOf(response: Response, { url, quote }: RefusalContext): Promise<ModelError> {
  const { status } = response;
  const facts: Record<string, unknown> = { status, url };
  if (status >= 300 && status < 400) {
    await response.body?.cancel().catch(() => {});
    const location = response.headers.get("location");
    const where = location === null ? "" : ` to ${quote(location)}`;
    const message = `the model server redirects (${status}) POST ${url}${where}; set base_url to the final address`;
    return new ModelError(message, { details: facts });
  }
  const { text, cut } = await readSome(response);
  const reported = cut ? undefined : reportedIn(text);
  if (text.trim() !== "") facts["body"] = quote(text, cut);
  const retryAfterMs = retryAfter(response.headers);
  if (retryAfterMs !== undefined) facts["retryAfterMs"] = retryAfterMs;
  if (reported !== undefined) {
    for (const [name, value] of Object.entries(errorFacts(reported))) facts[name] = quote(value);
  }
  const said = text.trim() === "" ? "" : `: ${quote(reported?.message ?? text, cut)}`;
  const name = response.statusText === "" ? "" : ` ${response.statusText}`;
  const advice = adviceFor(status, reported);
  return new ModelError(`the model server answered ${status}${name} to POST ${url}${said}${advice}`, {
    code: status === 429 ? "quota" : "provider",
    details: facts,
  });
}

function adviceFor(status: number, reported: ServerError | undefined): string {
  if (status === 401 || status === 403) return "; check the API key";
  const wrongPlace = (status === 404 || status === 405) && reported === undefined;
  return wrongPlace ? "; check base_url, which usually ends in /v1" : "";
}

function reportedIn(text: string): ServerError | undefined {
  try {
    return serverErrorIn(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The body's beginning; what there is of it when it breaks off or does not end in time. */
async function readSome(response: Response): Promise<{ text: string; cut: boolean }> {
  const most = 4 * LIMITS.errorBodyCharacters;
  let read: Uint8Array = new Uint8Array();
  let cut = false;
  try {
    for await (const chunk of response.body ?? []) {
      read = joinBytes([read, chunk]);
      cut = read.length > most;
      if (cut) break;
    }
  } catch {
    cut = true;
  }
  return { text: decodeUtf8Lossy(read.subarray(0, most)), cut };
}
