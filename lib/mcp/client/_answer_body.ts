/** The body of an answer: bounded, and with its end told to whoever waits for what should have been in it. */
import { transportFailure } from "../../base/transport.ts";

/** What is told about a body. */
export interface AnswerWatch {
  /** Bytes that it may have. */
  readonly limit: number;
  /** The error when it has more. */
  readonly tooLong: () => Error;
  /** Called when reading failed because of that. */
  readonly failed: (error: Error) => void;
  /** Called when it is over, once all of it has been taken in; says how it ended. */
  readonly ended: (how: string) => void;
}

/** The response with its body watched. */
export function watchAnswer(response: Response, watch: AnswerWatch): Response {
  // What has been read is handed on without waiting for anything outside, so the next task comes after all of it.
  const later = (how: string) => void setTimeout(() => watch.ended(how), 0);
  const { body, status, headers } = response;
  if (body === null) {
    later("it was answered without a body");
    return response;
  }
  const fail = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const error = watch.tooLong();
    controller.error(error);
    watch.failed(error);
    void reader.cancel().catch(() => {});
  };
  const reader = body.getReader();
  let bytes = 0;
  const watched = new ReadableStream<Uint8Array>({
    start(controller) {
      if (Number(headers.get("content-length") ?? 0) > watch.limit) fail(controller);
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          later("the answer's stream ended without the answer");
          return;
        }
        bytes += value.length;
        if (bytes > watch.limit) fail(controller);
        else controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        later(transportFailure(error).reason);
      }
    },
    async cancel(reason) {
      later("the answer was none that can be read");
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(watched, { status, headers });
}
