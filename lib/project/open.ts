/**
 * From settings to something that runs: an agent over the one engine, with the provider, the tools, the policy and the
 * approver that the project's files ask for.
 */
import type { EnvironmentReader } from "../base/environment.ts";
import { LIMITS } from "../base/limits.ts";
import { createAgent, type CustomAgent } from "../harness/agent.ts";
import { createHarnessWith } from "../harness/harness.ts";
import type { SandboxLease } from "../sandbox/lease.ts";
import { createLocalSandboxProvider } from "../sandbox/providers/local.ts";
import type { ApproveTool } from "../tool/approval.ts";
import { checkOwnName, findCollision } from "../tool/name.ts";
import { evaluatePolicy } from "../tool/policy.ts";
import type { HarnessTool } from "../tool/tool.ts";
import { settingFault, unknownName } from "./faults.ts";
import { keyVariables } from "./keys.ts";
import { type NamedEntry, type OfferedTool, ProjectMcp, type ProjectMcpHost, sortTools } from "./mcp.ts";
import type { Project } from "./project.ts";
import { type ProviderOptions, ProviderPool } from "./providers.ts";
import type { RequestSettings } from "./settings.ts";

/** What an invocation brings besides the project. */
export interface SessionOptions extends ProviderOptions {
  readonly environment: EnvironmentReader;
  /** Asked before each call that the policy lets through. */
  readonly approve?: ApproveTool;
  /** What stands around MCP servers. */
  readonly mcp?: ProjectMcpHost;
}

/** How one request is made. */
export interface RequestOptions {
  readonly streaming: boolean;
  /** Whether streamed answers should report their tokens. */
  readonly wantUsage: boolean;
}

/** One invocation's view of a project: providers, keys and the lease are made once and shared. */
export class ProjectSession {
  readonly #project: Project;
  readonly #options: SessionOptions;
  readonly #providers: ProviderPool;
  /** The MCP servers of the invocation. */
  readonly mcp: ProjectMcp;

  /** A session; `lease` is where tools run. */
  constructor(project: Project, options: SessionOptions) {
    this.#project = project;
    this.#options = options;
    this.#providers = new ProviderPool(project, options);
    this.mcp = new ProjectMcp(project, {
      environment: options.environment,
      lease: () => this.lease(),
      ...options.mcp,
    });
  }

  /** Ends what the session has started: MCP servers. */
  async close(): Promise<void> {
    await this.mcp.close();
  }

  /** The sandbox of the command: this machine, in lait's current directory, without the model keys. */
  async lease(): Promise<SandboxLease> {
    const withhold = keyVariables(this.#project.layers.map(({ config }) => config));
    return await createLocalSandboxProvider({ withhold, inherit: "all" }).acquire({
      directory: this.#project.directory,
    });
  }

  /** The agent for these settings. */
  async agent(settings: RequestSettings, request: RequestOptions): Promise<CustomAgent> {
    refuseUnbuilt(this.#project);
    const policy = this.#project.config.tool_policy;
    const patterns = { allow: policy?.allow ?? [], deny: policy?.deny ?? [] };
    const { approve } = this.#options;
    const harness = createHarnessWith({
      modelProvider: await this.#providers.provider(settings),
      ...(settings.system === undefined || settings.system.trim() === "" ? {} : { instructions: settings.system }),
      tools: await this.#tools(settings),
      limits: { maxSteps: settings.maxToolRounds },
      toolExecution: {
        concurrency: LIMITS.parallelCalls,
        scheduling: "parallel",
        deadlineMs: false,
        onInvalidCall: "fail",
        maxResultCharacters: false,
      },
      ...(approve === undefined ? {} : { approve }),
      cache: false,
    }, {
      streaming: request.streaming,
      cutAnswer: "keep",
      stepsLimit: { name: "max_tool_rounds", advice: "raise default.max_tool_rounds in lait.config.yml" },
      wantUsage: request.wantUsage,
      deniedByUser: "the user denied this call (--approve-tools)",
      policy: (tool) => evaluatePolicy(patterns, tool),
    });
    return createAgent({ harness, model: settings.model });
  }

  /** For the end of a successful run: a script whose answers were not all used is an error. */
  checkScripts(): void {
    this.#providers.checkScripts();
  }

  /** The tools of a request: those of MCP servers, then local commands. */
  async #tools(settings: RequestSettings): Promise<HarnessTool[]> {
    const { servers, commands } = sortTools(this.#project, settings);
    const signal = this.#options.signal ?? new AbortController().signal;
    const offered: OfferedTool[] = [
      ...await this.mcp.tools(servers, signal),
      ...commands.length === 0 ? [] : await this.#commands(commands),
    ];
    const collision = findCollision(offered.map(({ tool, source }) => ({ name: tool.name, source })));
    if (collision !== undefined) {
      const { path } = offered[collision.index]!;
      throw settingFault(this.#project, path, "tool-collision", collision.message);
    }
    return offered.map(({ tool }) => tool);
  }

  async #commands(commands: readonly NamedEntry[]): Promise<OfferedTool[]> {
    const { createCommandTool } = await import("../tool/command.ts");
    const project = this.#project;
    const entries = project.config.tools ?? {};
    return commands.map(({ name, path }) => {
      if (!Object.hasOwn(entries, name)) {
        throw unknownName(project, { kind: "tool", name, key: "tools", known: Object.keys(entries), path });
      }
      const fault = checkOwnName("tool", name);
      if (fault !== undefined) throw settingFault(project, ["tools", name], "tool-name", fault);
      const tool = createCommandTool(name, entries[name]!, {
        variable: this.#options.environment,
        placeOf: (...path) => project.placeOf("tools", name, ...path),
      }) as HarnessTool;
      return { tool, source: `tools.${name}`, path };
    });
  }
}

/** Defaults that would be silently without effect in this version. */
function refuseUnbuilt(project: Project): void {
  const { skills = [], subagents = [], compaction } = project.config.default ?? {};
  const unbuilt = Object.entries({ skills, subagents }).find(([, names]) => names.length > 0)?.[0] ??
    (compaction === undefined ? undefined : "compaction");
  if (unbuilt === undefined) return;
  const message = `default.${unbuilt} is not supported by this version of lait`;
  throw settingFault(project, ["default", unbuilt], "not-supported", message, "remove the key");
}
