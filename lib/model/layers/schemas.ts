/** Schemas as the server takes them. */
import { answerSchemaFor, type SchemaProfile, strictFault, toolSchemaFor } from "../../schema/provider_schema.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { ModelProvider, ModelRequest, ResponseFormat, ToolSpec } from "../provider.ts";
import { wrapProvider } from "./_layer.ts";

/**
 * The provider, asked with schemas that its server takes: without references, an object with `properties` at the root
 * of each tool's, what it refuses told in descriptions, and strict only where a server that checks would not refuse it.
 * What was changed is told to `onNotice`, once for each schema.
 */
export function withSchemas(provider: ModelProvider, profile: SchemaProfile): ModelProvider {
  const adapter = new Adapter(profile);
  const stream = provider.stream?.bind(provider);
  return wrapProvider(provider, {
    request: async (request) => await provider.request(adapter.request(request)),
    ...(stream === undefined ? {} : { stream: (request) => stream(adapter.request(request)) }),
  });
}

class Adapter {
  readonly #profile: SchemaProfile;
  // By the schema given, so that a long tool loop adapts, and tells, once.
  readonly #tools = new WeakMap<object, JsonObject>();
  readonly #formats = new WeakMap<object, ResponseFormat>();

  constructor(profile: SchemaProfile) {
    this.#profile = profile;
  }

  request(request: ModelRequest): ModelRequest {
    const { tools, responseFormat } = request;
    return {
      ...request,
      ...(tools === undefined ? {} : { tools: tools.map((tool) => this.#tool(tool, request)) }),
      ...(responseFormat === undefined ? {} : { responseFormat: this.#format(responseFormat, request) }),
    };
  }

  #tool(tool: ToolSpec, request: ModelRequest): ToolSpec {
    let inputSchema = this.#tools.get(tool.inputSchema);
    if (inputSchema === undefined) {
      const { schema, notes } = toolSchemaFor(tool.inputSchema, this.#profile);
      for (const note of notes) request.onNotice?.({ kind: "detail", message: `${tool.name}: ${note}` });
      inputSchema = schema;
      this.#tools.set(tool.inputSchema, schema);
    }
    return inputSchema === tool.inputSchema ? tool : { ...tool, inputSchema };
  }

  #format(format: ResponseFormat, request: ModelRequest): ResponseFormat {
    if (!isJsonObject(format.schema)) return format;
    const known = this.#formats.get(format);
    if (known !== undefined) return known;
    const { schema, notes } = answerSchemaFor(format.schema, this.#profile);
    for (const note of notes) request.onNotice?.({ kind: "detail", message: `${format.name}: ${note}` });
    const fault = this.#profile.checksStrict ? strictFault(schema) : undefined;
    if (fault !== undefined) {
      const message = `${format.name}: ${fault}, so the server is not asked to keep to it strictly`;
      request.onNotice?.({ kind: "notice", message });
    }
    const adapted: ResponseFormat = { ...format, schema, ...(fault === undefined ? {} : { strict: false }) };
    this.#formats.set(format, adapted);
    return adapted;
  }
}
