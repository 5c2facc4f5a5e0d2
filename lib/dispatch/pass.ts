/** One pass: the turn with the brief, those that repair a typed answer, those for texts that came after the answer. */
import { timerMs } from "../base/clock.ts";
import { LaitError, messageOf, ResponseError, TimeoutError } from "../base/errors.ts";
import { anySignal } from "../base/signals.ts";
import { createHarnessConversations } from "../harness/conversations.ts";
import type { HarnessEvent } from "../harness/events.ts";
import { repairPrompt } from "../harness/response.ts";
import type { SteeringQueue } from "../harness/steering.ts";
import type { Continuation } from "../harness/transcript.ts";
import { runTurnWith, TurnStop } from "../harness/turn.ts";
import { NO_USAGE, type Usage } from "../model/usage.ts";
import type { SandboxLease } from "../sandbox/lease.ts";
import type { HarnessTool } from "../tool/tool.ts";
import type { DispatchSettings } from "./dispatch_options.ts";
import type { DispatchStopReason, DispatchStream } from "./observation.ts";
import type { UsageMeter } from "./prices.ts";
import type { Redact } from "./redact.ts";
import { SilenceWatch } from "./silence.ts";
import type { Repetition, Watchdog } from "./watchdog.ts";

/** One turn of a dispatch. */
export interface DispatchTurn {
  /** The answer; "" for a turn that did not come to one. */
  readonly text: string;
  /** 0 for a turn that came to its answer, 1 for another. */
  readonly status: number;
  /** The id of its conversation, when it is kept. */
  readonly conversation?: string;
  /** Where the conversation is kept: a path or a URL. */
  readonly transcript?: string;
  /** Its tokens. */
  readonly usage: Usage;
  /** How long it took. */
  readonly durationMs: number;
}

/** What the passes of one dispatch share. */
export interface PassContext<T> {
  readonly settings: DispatchSettings<T>;
  /** Where conversations are kept. */
  readonly repository: string;
  readonly stream: DispatchStream;
  readonly meter: UsageMeter;
  readonly steering: SteeringQueue;
  readonly watchdog: Watchdog | undefined;
  readonly redact: Redact;
  /** All turns so far, of all passes; a failure leaves what there was. */
  readonly turns: DispatchTurn[];
  /** Why the dispatch was stopped, when it was. */
  stopped: DispatchStopReason | undefined;
}

interface TurnChoice {
  readonly continuation?: Continuation | undefined;
  readonly offers?: (tool: HarnessTool) => boolean;
}

/** Runs a pass; gives the typed answer, when one is asked for. */
export async function runPass<T>(context: PassContext<T>, lease: SandboxLease, prompt: string): Promise<T | undefined> {
  const { settings, steering, stream } = context;
  const { response, agent } = settings;
  let turn = await runOne(context, lease, prompt, { continuation: settings.continuation });
  for (let repair = 1;;) {
    const continuation = turn.conversation === undefined ? undefined : { id: turn.conversation };
    if (steering.waits) {
      if (continuation === undefined) {
        steering.refuse("the answer was there already, and this agent's conversation cannot go on");
        continue;
      }
      const texts = steering.take(null, "resumed");
      for (const text of texts) stream.emit({ kind: "steer", text, mode: "resumed" });
      turn = await runOne(context, lease, texts.join("\n\n"), { continuation });
      continue;
    }
    if (response === undefined) return undefined;
    try {
      return await response.read(turn.text);
    } catch (error) {
      if (!(error instanceof ResponseError) || repair > response.repairs || continuation === undefined) throw error;
      if (!agent.resumable) throw error;
      stream.emit({ kind: "response-repair", attempt: repair, message: error.message });
      const again = repairPrompt(response, error, response.repairs - repair);
      repair++;
      turn = await runOne(context, lease, again, { continuation, offers: (tool) => tool.readOnly }, false);
    }
  }
}

async function runOne<T>(
  context: PassContext<T>,
  lease: SandboxLease,
  prompt: string,
  { continuation, offers }: TurnChoice,
  withForm = true,
): Promise<DispatchTurn> {
  const { settings, stream, turns, repository, redact } = context;
  const { agent, response, signal, approve, label } = settings;
  const stop = new AbortController();
  const end = (reason: DispatchStopReason, error: LaitError) => {
    if (stop.signal.aborted || signal?.aborted) return;
    context.stopped = reason;
    stop.abort(new TurnStop(reason, error));
  };
  const silence = watchSilence(context, end);
  const { deadlineMs } = settings;
  const deadline = setTimeout(
    () => end("deadline", new TimeoutError(`the turn took longer than ${deadlineMs} ms (deadlineMs)`)),
    timerMs(deadlineMs),
  );
  const startedAt = performance.now();
  let usage: Usage = NO_USAGE;
  let conversation: string | undefined;
  const observe = (event: HarnessEvent) => {
    silence.heard(event);
    if (event.kind === "usage") context.meter.add(event.model, event.tokens);
    if (event.kind === "conversation") conversation = event.id;
    if (event.kind === "finished" || event.kind === "failure" || event.kind === "stopped") usage = event.usage;
    stream.forward(event);
    const repetition = context.watchdog?.heard(event);
    if (repetition !== undefined) act(context, repetition, end);
  };
  const record = async (text: string, status: "finished" | "failed" | "stopped") => {
    const durationMs = Math.round(performance.now() - startedAt);
    const turn: DispatchTurn = {
      text,
      status: status === "finished" ? 0 : 1,
      ...await kept(context, conversation, repository),
      usage,
      durationMs,
    };
    turns.push(turn);
    stream.emit({ kind: "turn", index: turns.length, status, durationMs, usage });
    return turn;
  };
  try {
    const { text } = await runTurnWith(agent, {
      lease,
      prompt,
      signal: anySignal(signal, stop.signal),
      observe,
      label,
      repository,
      ...(approve === undefined ? {} : { approve }),
      ...(continuation === undefined ? {} : { continuation }),
    }, {
      steering: context.steering,
      redact,
      ...(offers === undefined ? {} : { offers }),
      ...(withForm && response !== undefined ? { suffix: [response.instructions] } : {}),
    });
    return await record(text, "finished");
  } catch (error) {
    await record("", stop.signal.aborted || signal?.aborted ? "stopped" : "failed");
    throw error;
  } finally {
    clearTimeout(deadline);
    silence.stop();
  }
}

async function kept<T>(
  { settings }: PassContext<T>,
  conversation: string | undefined,
  repository: string,
): Promise<{ conversation?: string; transcript?: string }> {
  if (conversation === undefined) return {};
  const transcript = await storedAt(settings, conversation, repository);
  return { conversation, ...(transcript === undefined ? {} : { transcript }) };
}

async function storedAt<T>(
  { agent }: DispatchSettings<T>,
  id: string,
  repository: string,
): Promise<string | undefined> {
  try {
    return await (agent.storage ?? createHarnessConversations()).locate(id, { repository });
  } catch {
    // Where it is is for people only.
    return undefined;
  }
}

function watchSilence<T>(
  { settings, stream }: PassContext<T>,
  end: (reason: DispatchStopReason, error: LaitError) => void,
): SilenceWatch {
  const { idleMs, idleWarningMs } = settings;
  return new SilenceWatch({
    idleMs,
    warningMs: idleWarningMs,
    onSilent: () => end("idle-timeout", new TimeoutError(`the agent was silent for ${idleMs} ms (idleMs)`)),
    onWarning: (silentMs) =>
      stream.emit({ kind: "warning", message: `the agent has been silent for ${Math.round(silentMs / 1000)} s` }),
  });
}

function act<T>(
  { stream, steering, settings }: PassContext<T>,
  { tool, repeats, window, action, subagentId }: Repetition,
  end: (reason: DispatchStopReason, error: LaitError) => void,
): void {
  stream.emit({ kind: "stuck", tool, repeats, window, action });
  if (action === "stop") {
    end(
      "stuck",
      new LaitError("stuck", `the agent made the same call of ${tool} ${repeats} times within ${window} calls`, {
        details: { tool, repeats, window },
      }),
    );
  }
  const onStuck = settings.watchdog?.onStuck;
  if (action !== "instruct" || typeof onStuck !== "object") return;
  steering.send(onStuck.instruction, { subagent: subagentId ?? null })
    .catch((error) => stream.emit({ kind: "warning", message: messageOf(error) }));
}
