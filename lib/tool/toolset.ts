/** Toolsets: tools under one name, to share between harnesses. */
import type { HarnessTool } from "./tool.ts";

/** A toolset; already flat, frozen. */
export interface HarnessToolset {
  /** Marks a toolset. */
  readonly kind: "toolset";
  /** For people; the model does not see it. */
  readonly name: string;
  /** The tools, those of nested sets included. */
  readonly tools: readonly HarnessTool[];
}
