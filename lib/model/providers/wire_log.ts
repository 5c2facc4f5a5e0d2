/** What goes over the wire, for `-vv`: bodies only, no headers, no keys. */
import type { SendRequest } from "./http.ts";
import { sendDirectly } from "../../base/loopback.ts";
import { Redactor } from "./_redactor.ts";

/** Where the log goes and what it must not hold. */
export interface WireLogOptions {
  /** Takes one line, or one body. */
  readonly log: (text: string) => void;
  /** The keys known by now. */
  readonly secrets: () => readonly string[];
}

/** A sender that logs each request's body and each answer, an event stream line by line as it comes. */
export function loggedSend({ log, secrets }: WireLogOptions): SendRequest {
  const write = (text: string) => {
    if (text.trim() !== "") log(new Redactor(secrets()).clean(text));
  };
  return async (url, init) => {
    write(`${init.method ?? "GET"} ${url} ${typeof init.body === "string" ? init.body : ""}`);
    const response = await sendDirectly(url, init);
    write(`${response.status} ${response.statusText}`.trimEnd());
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(logLines(write)), { status, statusText, headers });
  };
}

/** Hands bytes on and logs them line by line: a secret is within one line, whatever the pieces are. */
function logLines(write: (line: string) => void): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  // The line that has not ended, in pieces: a large body can be one line.
  let open: string[] = [];
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk);
      const [rest = "", ...lines] = decoder.decode(chunk, { stream: true }).split("\n");
      open.push(rest);
      for (const next of lines) {
        write(open.join(""));
        open = [next];
      }
    },
    flush: () => write(open.join("") + decoder.decode()),
  });
}
