/** The client of a decision service: typed questions about a state, and their answers. */
import { LaitError, messageOf, ModelError, TimeoutError } from "../base/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue, textForm } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { shorten } from "../base/text.ts";

/** A question. */
export interface DecideQuestion {
  readonly type: "noul" | "choice" | "score";
  readonly instructions?: JsonValue;
  readonly criteria?: JsonValue;
}

/** One request. */
export interface DecideRequest {
  readonly baseUrl: string;
  /** Undefined: no key is sent. */
  readonly key: string | undefined;
  readonly model: string;
  readonly state: JsonValue;
  readonly questions: Readonly<Record<string, DecideQuestion>>;
  readonly signal: AbortSignal;
}

/** The field that holds a question's answer, and its type. */
const ANSWERS = { noul: "number", choice: "string", score: "number" } as const;

function fits(value: unknown, type: "number" | "string"): boolean {
  return type === "number" ? typeof value === "number" : typeof value === "string";
}

/**
 * Asks the service, once.
 *
 * @returns the answers in the order of the questions
 * @throws ModelError when it cannot be reached, refuses, or answers something else; the signal's reason when it aborts
 */
export async function decide(request: DecideRequest): Promise<JsonObject> {
  return (await decideWhole(request)).answers;
}

/** The same, with all that the service has sent. */
export async function decideWhole(
  request: DecideRequest,
): Promise<{ readonly answers: JsonObject; readonly whole: JsonValue }> {
  const url = `${request.baseUrl.replace(/\/+$/, "")}/systemone`;
  const late = AbortSignal.timeout(LIMITS.decideMs);
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(request.key === undefined ? {} : { authorization: `Bearer ${request.key}` }),
      },
      body: JSON.stringify({ model: request.model, state: stateOf(request.state), questions: request.questions }),
      redirect: "error",
      signal: AbortSignal.any([request.signal, late]),
    });
    text = await readBody(response);
  } catch (error) {
    request.signal.throwIfAborted();
    if (late.aborted) throw new TimeoutError(`the decision service ${url} did not answer within ${LIMITS.decideMs} ms`);
    if (error instanceof LaitError) throw error;
    throw new ModelError(`the decision service ${url} cannot be reached: ${messageOf(error)}`, { cause: error });
  }
  const body = parsed(text);
  if (!response.ok) {
    const { status } = response;
    throw new ModelError(`the decision service answered HTTP ${status}${detailOf(body, text)}`, {
      code: status === 429 ? "quota" : "provider",
      details: { status },
    });
  }
  return { answers: answersOf(body, request.questions), whole: body as JsonValue };
}

function stateOf(state: JsonValue): JsonValue {
  if (state === null) return "";
  return typeof state === "object" ? state : textForm(state);
}

async function readBody(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader!.read()) {
    bytes += next.value.length;
    if (bytes > LIMITS.modelResponseBytes) {
      await reader!.cancel();
      throw new ModelError(`the decision service sent more than ${LIMITS.modelResponseBytes} bytes`, {
        code: "response",
      });
    }
    text += decoder.decode(next.value, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What the service says of a failure: `detail`, its message, or its list of them. */
function detailOf(body: unknown, text: string): string {
  const detail = isJsonObject(body) ? body["detail"] : undefined;
  const said = typeof detail === "string"
    ? detail
    : isJsonObject(detail) && typeof detail["message"] === "string"
    ? detail["message"]
    : Array.isArray(detail)
    ? detail.map((item) => isJsonObject(item) ? String(item["msg"] ?? "") : "").filter((msg) => msg !== "").join("; ")
    : "";
  const shown = said === "" ? shorten(text.trim(), LIMITS.quotedAnswerCharacters) : said;
  return shown === "" ? "" : `: ${shown}`;
}

function answersOf(body: unknown, questions: DecideRequest["questions"]): JsonObject {
  const answers = isJsonObject(body) ? body["answers"] : undefined;
  const wrong = (why: string) =>
    new ModelError(`the decision service's answer cannot be used: ${why}`, { code: "response" });
  if (!isJsonObject(answers)) throw wrong("it has no `answers`");
  const extra = Object.keys(answers).find((id) => !Object.hasOwn(questions, id));
  if (extra !== undefined) throw wrong(`it answers '${extra}', which was not asked`);
  const entries = Object.entries(questions).map(([id, { type }]) => {
    const answer = Object.hasOwn(answers, id) ? answers[id] : undefined;
    if (!isJsonObject(answer)) throw wrong(`it does not answer '${id}'`);
    if (answer["type"] !== type) {
      throw wrong(`the answer to '${id}' is of the type ${JSON.stringify(answer["type"])}, not '${type}'`);
    }
    if (!fits(answer[type], ANSWERS[type])) throw wrong(`the answer to '${id}' has no ${ANSWERS[type]} \`${type}\``);
    return [id, answer] as const;
  });
  return Object.fromEntries(entries) as JsonObject;
}
