/**
 * From settings to something that runs: an agent over the one engine, with the provider, the tools, the policy and the
 * approver that the project's files ask for.
 */
import type { EnvironmentReader } from "../base/environment.ts";
import { LIMITS } from "../base/limits.ts";
import { createAgent, type CustomAgent } from "../harness/agent.ts";
import type { DelegatedRun } from "../harness/subagents.ts";
import type { JsonValue } from "../base/json.ts";
import { createHarnessWith } from "../harness/harness.ts";
import type { AgentModel, ModelProvider } from "../model/provider.ts";
import type { Pricing } from "../model/usage.ts";
import type { SandboxLease } from "../sandbox/lease.ts";
import { createLocalSandboxProvider } from "../sandbox/providers/local.ts";
import type { ApproveTool } from "../tool/approval.ts";
import { checkOwnName, findCollision } from "../tool/name.ts";
import { evaluatePolicy } from "../tool/policy.ts";
import type { HarnessTool } from "../tool/tool.ts";
import type { AgentDefinition } from "./agents/agent.ts";
import { ProjectAgents } from "./agents/agents.ts";
import type { Note } from "./agents/registry.ts";
import { ProjectSkills, skillPointer, skillSection, skillTool, withSkills } from "./agents/skills.ts";
import { expandNames, listedNames } from "./names.ts";
import { settingFault, type SettingPath, unknownName } from "./faults.ts";
import { keyVariables } from "./keys.ts";
import { type NamedEntry, type OfferedTool, ProjectMcp, type ProjectMcpHost, sortTools } from "./mcp.ts";
import type { Project } from "./project.ts";
import { type ProviderOptions, ProviderPool } from "./providers.ts";
import { projectCompaction } from "./compaction.ts";
import { type RequestSettings, resolveSettings } from "./settings.ts";

/** What an invocation brings besides the project. */
export interface SessionOptions extends ProviderOptions {
  readonly environment: EnvironmentReader;
  /** Asked before each call that the policy lets through. */
  readonly approve?: ApproveTool;
  /** What stands around MCP servers. */
  readonly mcp?: ProjectMcpHost;
  /** The agents of the project, when the invocation has looked at them already. */
  readonly agents?: ProjectAgents;
  /** Is told what is good to know. */
  readonly note?: Note;
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
  /** The agents of the project. */
  readonly agents: ProjectAgents;
  readonly #skills: ProjectSkills;
  readonly #pricing = new Map<string, Pricing>();

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
    this.agents = options.agents ?? new ProjectAgents(project, options.note);
    this.#skills = new ProjectSkills(project, options.note);
  }

  /** Ends what the session has started: MCP servers. */
  async close(): Promise<void> {
    await this.mcp.close();
  }

  /** What the tokens of a model cost that was used in this session; undefined when the files do not say. */
  pricing(model: string): Pricing | undefined {
    return this.#pricing.get(model);
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
    const { model, agentFile } = settings;
    const { compaction } = this.#project.config.default ?? {};
    this.#rememberPricing(settings);
    const policy = this.#project.config.tool_policy;
    const patterns = { allow: policy?.allow ?? [], deny: policy?.deny ?? [] };
    const { approve } = this.#options;
    const { system, tools } = await this.#offered(settings);
    const context = tools.length === 0 ? undefined : projectCompaction(this.#project);
    const summarizer = context === undefined ? undefined : await this.#summarizer();
    const harness = createHarnessWith({
      modelProvider: await this.#providers.provider(settings),
      ...(system === undefined ? {} : { instructions: system }),
      tools,
      limits: {
        maxSteps: settings.maxToolRounds,
        maxDelegationDepth: LIMITS.agentFiles - (agentFile === undefined ? 0 : 1),
      },
      toolExecution: {
        concurrency: LIMITS.parallelCalls,
        scheduling: "parallel",
        deadlineMs: false,
        onInvalidCall: "fail",
        maxResultCharacters: false,
      },
      ...(approve === undefined ? {} : { approve }),
      ...(context === undefined ? {} : { context }),
      cache: false,
    }, {
      streaming: request.streaming,
      cutAnswer: "keep",
      stepsLimit: { name: "max_tool_rounds", advice: roundsAdvice(agentFile) },
      wantUsage: request.wantUsage || (context !== undefined && compaction?.trigger_tokens !== undefined),
      deniedByUser: "the user denied this call (--approve-tools)",
      ...(agentFile === undefined ? {} : { identity: agentFile }),
      ...(summarizer === undefined ? {} : { summarizer }),
      policy: (tool) => evaluatePolicy(patterns, tool),
    });
    return createAgent({ harness, model });
  }

  /** The names of the tools that a request offers. */
  async toolNames(settings: RequestSettings): Promise<readonly string[]> {
    return (await this.#offered(settings)).tools.map(({ name }) => name);
  }

  /** What summaries are made by, when that is another model. */
  async #summarizer(): Promise<{ provider: ModelProvider; model: AgentModel } | undefined> {
    const model = this.#project.config.default?.compaction?.model;
    if (model === undefined) return undefined;
    const caller = { model, path: ["default", "compaction"] };
    const settings = resolveSettings(this.#project, caller, this.#options.environment, { defaultSystem: false });
    this.#rememberPricing(settings);
    return { provider: await this.#providers.provider(settings), model: settings.model };
  }

  #rememberPricing({ model, pricing }: RequestSettings): void {
    if (pricing !== undefined && !this.#pricing.has(model.name)) this.#pricing.set(model.name, pricing);
  }

  /** For the end of a successful run: a script whose answers were not all used is an error. */
  checkScripts(): void {
    this.#providers.checkScripts();
  }

  /** The system prompt with its skills, and the tools: subagents, those of MCP servers, local commands, skills. */
  async #offered(settings: RequestSettings): Promise<{ system: string | undefined; tools: HarnessTool[] }> {
    const { servers, commands } = sortTools(this.#project, settings);
    const signal = this.#options.signal ?? new AbortController().signal;
    const [subagents, ofServers, own, skills] = await Promise.all([
      this.#subagents(settings),
      this.mcp.tools(servers, signal),
      commands.length === 0 ? [] : this.#commands(commands),
      this.#skillsOf(settings),
    ]);
    const offered = [...subagents, ...ofServers, ...own, ...skills.tools];
    const collision = findCollision(offered.map(({ tool, source }) => ({ name: tool.name, source })));
    if (collision !== undefined) {
      const { path } = offered[collision.index]!;
      throw settingFault(this.#project, path, "tool-collision", collision.message);
    }
    return { system: withSkills(settings.system, skills.sections), tools: offered.map(({ tool }) => tool) };
  }

  async #subagents({ subagents: names, subagentsPath: path }: RequestSettings): Promise<OfferedTool[]> {
    if (names.length === 0) return [];
    const { subagentTool } = await import("./agents/subagents.ts");
    const kind = "subagent";
    const listed = await listedNames(this.#project, {
      names,
      path,
      kind,
      key: "agents",
      known: () => this.agents.names(),
    });
    return await Promise.all(listed.map(async ({ name, path }) => {
      const definition = await this.agents.named(name, { noun: kind, ...(path === undefined ? {} : { path }) });
      this.#checkName("agent", name, path);
      const tool = subagentTool(name, definition, (input, prompt) => this.#openSubagent(definition, input, prompt));
      return { tool, source: `agents.${name}`, path };
    }));
  }

  async #openSubagent(definition: AgentDefinition, input: JsonValue, prompt: string): Promise<DelegatedRun> {
    const { agentRequest } = await import("./agents/request.ts");
    const request = agentRequest(this.#project, definition, { input }, this.#options.environment);
    const agent = await this.agent(request.settings, { streaming: false, wantUsage: true });
    return { agent, prompt, responseFormat: request.responseFormat };
  }

  async #skillsOf({ skills: names, skillsPath: path }: RequestSettings): Promise<{
    readonly sections: readonly string[];
    readonly tools: readonly OfferedTool[];
  }> {
    const known = () => this.#skills.names();
    const listed = await listedNames(this.#project, { names, path, kind: "skill", key: "skills", known });
    const skills = await Promise.all(listed.map(({ name, path }) => this.#skills.named(name, path)));
    if (this.#project.config.default?.skill_progressive_disclosure !== true) {
      return { sections: skills.map((skill) => skillSection(skill, skill.body)), tools: [] };
    }
    for (const { name, path } of listed) this.#checkName("skill", name, path);
    return {
      sections: skills.map((skill) => skillSection(skill, skillPointer(skill))),
      tools: skills.map((skill, index) => ({
        tool: skillTool(skill),
        source: `skills.${skill.key}`,
        path: listed[index]!.path,
      })),
    };
  }

  #checkName(origin: "agent" | "skill", name: string, path: SettingPath | undefined): void {
    const fault = checkOwnName(origin, name);
    if (fault !== undefined) throw settingFault(this.#project, path, "tool-name", fault);
  }

  async #commands(commands: readonly NamedEntry[]): Promise<OfferedTool[]> {
    const { createCommandTool } = await import("../tool/command.ts");
    const project = this.#project;
    const entries = project.config.tools ?? {};
    const known = Object.keys(entries);
    const list = { kind: "tool", key: "tools", known: () => Promise.resolve(known) };
    return (await expandNames(project, commands, list)).map(({ name, path }) => {
      if (!Object.hasOwn(entries, name)) throw unknownName(project, { kind: "tool", name, key: "tools", known, path });
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

function roundsAdvice(agentFile: string | undefined): string {
  const defaults = "default.max_tool_rounds in lait.config.yml";
  return agentFile === undefined ? `raise ${defaults}` : `raise max_tool_rounds in its front matter, or ${defaults}`;
}
