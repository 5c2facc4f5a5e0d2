/** Every kind of step, in the order in which messages name them. */
import { agentKind } from "./agent.ts";
import { askKind } from "./ask.ts";
import { decideKind } from "./decide.ts";
import { breakKind, stopKind } from "./end.ts";
import { forEachKind } from "./for_each.ts";
import { groupKind } from "./group.ts";
import { jqKind } from "./jq.ts";
import type { Kind } from "./kind.ts";
import { untilKind, whileKind } from "./loop.ts";
import { parallelKind } from "./parallel.ts";
import { promptKind } from "./prompt.ts";
import { runKind } from "./run.ts";
import { switchKind } from "./switch.ts";
import { workflowKind } from "./workflow.ts";
import { writeKind } from "./write.ts";

const ALL: readonly Kind[] = [
  promptKind,
  agentKind,
  runKind,
  decideKind,
  workflowKind,
  jqKind,
  askKind,
  writeKind,
  groupKind,
  switchKind,
  parallelKind,
  forEachKind,
  whileKind,
  untilKind,
  stopKind,
  breakKind,
];

/** By name. */
export const KINDS: ReadonlyMap<string, Kind> = new Map(ALL.map((kind) => [kind.name, kind]));
