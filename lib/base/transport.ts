/** What the runtime says about a request that got no answer, or lost it. */
import { messageOf } from "./errors.ts";

/** Why a request failed on its way. */
export interface TransportFailure {
  /** In a few words, the operating system's where there are some. */
  readonly reason: string;
  /** False when the server cannot have seen the request. */
  readonly reached: boolean;
}

// Deno has no codes for this, only texts, and 2.4 and 2.9 nest them differently. They are read here and nowhere else.
const NEVER_SENT = /client error \(Connect\)|Requests to port \d+ are blocked|Invalid URL/;
const PREFIXES = /^(?:error sending request (?:from \S+ )?for (?:url )?\S+(?: \(\S+\))?: )?(?:client error \(\w+\): )?/;

/** Explains what `fetch`, or reading its body, has thrown. */
export function transportFailure(error: unknown): TransportFailure {
  const message = messageOf(innermost(error));
  const reason = message.replace(PREFIXES, "").replace(/^tcp connect error: /, "");
  return { reason: withoutRepetition(reason), reached: !NEVER_SENT.test(message) };
}

function innermost(error: unknown): unknown {
  let inner = error;
  for (let depth = 0; depth < 10 && inner instanceof Error && inner.cause !== undefined; depth++) inner = inner.cause;
  return inner;
}

/** `a: b: b` is `a: b`: Deno 2.4 says the system's reason twice. */
function withoutRepetition(reason: string): string {
  const parts = reason.split(": ");
  return parts.filter((part, index) => part !== parts[index - 1]).join(": ");
}
