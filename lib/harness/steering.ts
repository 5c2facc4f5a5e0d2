/** Steering: telling an agent something while it works. */
import { LaitError } from "../base/errors.ts";
import { checkKeys, checkText } from "../base/options.ts";

/** How a text reached the agent: before its next request, or as a new turn after its answer. */
export type SteeringMode = "injected" | "resumed";

/** Options of {@link Steering.send}. */
export interface SteeringTarget {
  /**
   * Whom the text is for: the `id` of a subagent's run (its events' `subagentId`), or `null` for the outermost agent
   * alone. Default: whichever agent asks its model next.
   */
  readonly subagent?: string | null;
}

/** Sends texts to an agent that works; made by {@link createSteering}. */
export interface Steering {
  /**
   * Sends a text. Resolves when the agent has it; one that is sent while nothing runs waits for the next turn.
   *
   * @throws LaitError `steering` when it cannot be delivered: the subagent has ended, or this was closed
   */
  send(text: string, target?: SteeringTarget): Promise<{ readonly mode: SteeringMode }>;
  /** Refuses what waits and all that is sent later. */
  close(): void;
}

interface Waiting {
  readonly text: string;
  readonly subagent: string | null | undefined;
  readonly resolve: (delivery: { readonly mode: SteeringMode }) => void;
  readonly reject: (error: LaitError) => void;
}

/** The side of the loop. */
export class SteeringQueue {
  readonly #waiting: Waiting[] = [];
  readonly #subagents = new Set<string>();
  #attached = false;
  #closed = false;

  /** Adds a text. */
  send(text: string, target: SteeringTarget = {}): Promise<{ readonly mode: SteeringMode }> {
    checkText("Steering.send: the text", text);
    checkKeys("Steering.send", target, ["subagent"]);
    const { subagent } = target;
    if (this.#closed) return Promise.reject(undelivered(text, subagent, "the steering was closed"));
    if (typeof subagent === "string" && !this.#subagents.has(subagent)) {
      return Promise.reject(undelivered(text, subagent, `no subagent's run ${subagent} is going on`));
    }
    return new Promise((resolve, reject) => void this.#waiting.push({ text, subagent, resolve, reject }));
  }

  /** Refuses all that waits, and all that comes. */
  close(): void {
    this.#closed = true;
    this.#refuse(() => true, "the steering was closed");
  }

  /**
   * Binds this to a turn; the returned function ends that.
   *
   * @throws LaitError `steering` when another turn has it
   */
  attach(): () => void {
    if (this.#attached) throw new LaitError("steering", "the steering is in use by another turn; make one for each");
    this.#attached = true;
    return () => {
      this.#attached = false;
    };
  }

  /** Says that a subagent's run begins; the returned function says that it has ended. */
  begin(subagent: string): () => void {
    this.#subagents.add(subagent);
    return () => {
      this.#subagents.delete(subagent);
      this.#refuse((waiting) => waiting.subagent === subagent, `the subagent's run ${subagent} has ended`);
    };
  }

  /** Whether a text waits that the outermost agent may have. */
  get waits(): boolean {
    return this.#waiting.some(({ subagent }) => typeof subagent !== "string");
  }

  /** Takes the texts for a run: a subagent's, or the outermost (`null`). The sender hears that they have arrived. */
  take(run: string | null, mode: SteeringMode): string[] {
    const mine = this.#waiting.filter(({ subagent }) => subagent === undefined || subagent === run);
    for (const waiting of mine) {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      waiting.resolve({ mode });
    }
    return mine.map(({ text }) => text);
  }

  /** Refuses what waits for the outermost agent, because nothing will take it. */
  refuse(why: string): void {
    this.#refuse(({ subagent }) => typeof subagent !== "string", why);
  }

  #refuse(which: (waiting: Waiting) => boolean, why: string): void {
    for (const waiting of this.#waiting.filter(which)) {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      waiting.reject(undelivered(waiting.text, waiting.subagent, why));
    }
  }
}

function undelivered(text: string, subagent: string | null | undefined, why: string): LaitError {
  return new LaitError("steering", `the text could not be delivered: ${why}`, {
    details: { text, ...(subagent === undefined ? {} : { subagent }) },
  });
}

const queues = new WeakMap<Steering, SteeringQueue>();

/**
 * Makes a steering. One turn at a time uses it; afterwards another may.
 *
 * @example
 * ```ts
 * import { createSteering } from "./steering.ts";
 * const steering = createSteering();
 * const sent = steering.send("Leave the tests alone.");
 * steering.close();
 * console.assert(await sent.then(() => false, (error) => error.code === "steering"));
 * ```
 */
export function createSteering(): Steering {
  const queue = new SteeringQueue();
  const steering: Steering = Object.freeze({
    send: (text: string, target?: SteeringTarget) => queue.send(text, target),
    close: () => queue.close(),
  });
  queues.set(steering, queue);
  return steering;
}

/** The loop's side of a steering; undefined for what {@link createSteering} did not make. */
export function steeringQueue(steering: Steering): SteeringQueue | undefined {
  return queues.get(steering);
}
