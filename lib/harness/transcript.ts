/** The transcript of a conversation: what a turn appends as it happens, and a later one starts from. */
import { ConfigurationError, LaitError } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import { type ModelMessage, toolCalls } from "../model/message.ts";
import type { CustomAgent } from "./agent.ts";
import {
  type ConversationPlace,
  type ConversationStore,
  type ConversationWriter,
  createHarnessConversations,
} from "./conversations.ts";

/** Which conversation a turn goes on with. */
export interface Continuation {
  /** The conversation. */
  readonly id: string;
  /** Go on in a copy, and leave this one as it is. Default: false. */
  readonly fork?: boolean;
}

/** Which call of which conversation a subagent's run answers. */
export interface TranscriptParent {
  readonly parentConversation?: string;
  readonly parentCallId?: string;
}

/** What a transcript says first. */
interface Header extends TranscriptParent {
  readonly model: string;
  readonly parent?: string;
}

const BUILT_IN = createHarnessConversations();

/** Where the transcripts of an agent go; undefined when none are kept. */
function storeOf({ harness }: CustomAgent, { repository }: ConversationPlace): ConversationStore | undefined {
  if (harness.conversations === false) return undefined;
  return harness.conversations ?? (repository === undefined ? undefined : BUILT_IN);
}

/**
 * The transcript of a run, of a new conversation or one that goes on; undefined when none are kept.
 *
 * @throws ConfigurationError for a continuation where none are kept; see also {@link Transcript.resume}
 */
export async function openTranscript(
  agent: CustomAgent,
  place: ConversationPlace,
  options: {
    readonly continuation?: Continuation | undefined;
    readonly parent?: TranscriptParent;
    /** Takes secrets out of what is stored. */
    readonly redact?: Redact | undefined;
  } = {},
): Promise<Transcript | undefined> {
  const store = storeOf(agent, place);
  const { redact = (value) => value } = options;
  const header = { model: agent.model.name, ...options.parent };
  if (options.continuation === undefined) return store && await Transcript.start(store, place, header, redact);
  if (store === undefined) {
    throw new ConfigurationError(
      "the conversation cannot go on: this harness keeps none (`conversations: false`, or a turn without a repository)",
    );
  }
  return await Transcript.resume(store, place, options.continuation, header, redact);
}

type Redact = <Value>(value: Value) => Value;

/** A transcript that a turn writes. */
export class Transcript {
  /** The conversation's id. */
  readonly id: string;
  /** What was said before this turn. */
  readonly history: readonly ModelMessage[];
  readonly #writer: ConversationWriter;
  readonly #redact: Redact;

  private constructor(id: string, history: readonly ModelMessage[], writer: ConversationWriter, redact: Redact) {
    this.id = id;
    this.history = history;
    this.#writer = writer;
    this.#redact = redact;
  }

  /** Starts a conversation. */
  static async start(
    store: ConversationStore,
    place: ConversationPlace,
    header: Header,
    redact: Redact,
  ): Promise<Transcript> {
    const id = crypto.randomUUID();
    const writer = await store.capture(id, place);
    return await begun(writer, async () => {
      await writer.append(headerLine(id, header));
      return new Transcript(id, [], writer, redact);
    });
  }

  /**
   * Goes on with a conversation, or with a copy of it. Calls that were never answered get an error as their result.
   *
   * @throws LaitError `session` when it is missing or unreadable, `conflict` when it is being written
   */
  static async resume(
    store: ConversationStore,
    place: ConversationPlace,
    { id, fork = false }: Continuation,
    header: Header,
    redact: Redact,
  ): Promise<Transcript> {
    if (fork) {
      const before = readTranscript(id, await store.restore(id, place));
      const copy = crypto.randomUUID();
      const writer = await store.capture(copy, place);
      return await begun(writer, async () => {
        const lines = [headerLine(copy, { ...header, parent: id }), ...before.map(messageLine)];
        await writer.append(lines.join(""));
        return await healed(new Transcript(copy, before, writer, redact));
      });
    }
    // Read once nobody else writes; what does not exist must not be made by asking for it.
    await store.restore(id, place);
    const writer = await store.capture(id, place);
    return await begun(writer, async () => {
      const history = readTranscript(id, await store.restore(id, place));
      return await healed(new Transcript(id, history, writer, redact));
    });
  }

  /** Stores a message. */
  async add(message: ModelMessage): Promise<void> {
    await this.#writer.append(messageLine(this.#redact(message)));
  }

  /** Stores that the history was replaced. */
  async replace(messages: readonly ModelMessage[]): Promise<void> {
    await this.#writer.append(`${JSON.stringify({ type: "compaction", messages: this.#redact(messages) })}\n`);
  }

  /** Ends the writing. */
  async close(): Promise<void> {
    await this.#writer.close();
  }

  /** The same conversation with more said. */
  with(history: readonly ModelMessage[]): Transcript {
    return new Transcript(this.id, history, this.#writer, this.#redact);
  }
}

async function begun(writer: ConversationWriter, work: () => Promise<Transcript>): Promise<Transcript> {
  try {
    return await work();
  } catch (error) {
    await writer.close();
    throw error;
  }
}

async function healed(transcript: Transcript): Promise<Transcript> {
  const last = transcript.history.at(-1);
  if (last?.role !== "assistant") return transcript;
  const calls = toolCalls(last);
  if (calls.length === 0) return transcript;
  const message: ModelMessage = {
    role: "user",
    content: calls.map(({ id }) => ({
      type: "tool-result",
      callId: id,
      content: "interrupted: the turn ended before this call was answered; it may have run in part",
      isError: true,
    })),
  };
  await transcript.add(message);
  return transcript.with([...transcript.history, message]);
}

function headerLine(id: string, { model, ...rest }: Header): string {
  return `${
    JSON.stringify({ type: "session", version: 1, id, model, createdAt: new Date().toISOString(), ...rest })
  }\n`;
}

function messageLine(message: ModelMessage): string {
  return `${JSON.stringify({ type: "message", message })}\n`;
}

/**
 * The history that a transcript tells.
 *
 * @throws LaitError `session` naming the line that cannot be used
 */
export function readTranscript(id: string, text: string): ModelMessage[] {
  // Part of a line at the end was being written when its process was killed.
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n").slice(0, -1);
  const fail = (index: number, what: string): never => {
    throw new LaitError("session", `the conversation ${id} cannot be read: line ${index + 1} ${what}`, {
      details: { conversation: id, line: index + 1 },
    });
  };
  let history: ModelMessage[] = [];
  if (lines.length === 0) fail(0, "is missing: it says which conversation this is");
  lines.forEach((line, index) => {
    let record: unknown;
    try {
      record = JSON.parse(line);
    } catch {
      fail(index, "is no JSON");
    }
    if (!isJsonObject(record)) return fail(index, "is no object");
    if (index === 0) {
      if (record.type !== "session") fail(0, "is no `session` record");
      if (record.version !== 1) {
        fail(0, `has the version ${JSON.stringify(record.version)}; this lait reads version 1`);
      }
      return;
    }
    if (record.type === "message" && isMessage(record.message)) history.push(record.message);
    else if (record.type === "compaction" && Array.isArray(record.messages) && record.messages.every(isMessage)) {
      history = [...record.messages];
    } else fail(index, `is a record of the type ${JSON.stringify(record.type)} that is unknown or not whole`);
  });
  return history;
}

function isMessage(value: unknown): value is ModelMessage {
  return isJsonObject(value) && (value.role === "user" || value.role === "assistant") && Array.isArray(value.content) &&
    value.content.every((block) => isJsonObject(block) && typeof block.type === "string");
}
