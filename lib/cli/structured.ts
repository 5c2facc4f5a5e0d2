/** Answers that must be JSON of a schema (`--json-schema`). */
import { ConfigurationError, FileError, messageOf } from "../base/errors.ts";
import { readTextBounded } from "../base/files.ts";
import { isJsonObject, type JsonObject, jsonTypeOf } from "../base/json.ts";
import { resolve } from "../deps/path.ts";
import type { ResponseFormat } from "../model/provider.ts";

/** The name that is sent with a schema when none is given. */
const DEFAULT_NAME = "structured_output";

/**
 * Reads the schema for an answer. It is checked here, before any request.
 *
 * @throws ConfigurationError for a name that cannot be sent, or a schema that is none
 * @throws FileError for a file that cannot be read or is no JSON
 */
export async function readResponseFormat(
  directory: string,
  { path, name = DEFAULT_NAME }: { path: string; name?: string },
): Promise<ResponseFormat> {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw new ConfigurationError(
      `--schema-name must be 1 to 64 letters, digits, \`_\` or \`-\` (got ${JSON.stringify(name)})`,
    );
  }
  const schema = parse(await readTextBounded(resolve(directory, path)), path);
  if (!isJsonObject(schema)) {
    throw new ConfigurationError(`--json-schema ${path}: the schema must be an object (got ${jsonTypeOf(schema)})`);
  }
  const { compileSchema, SchemaError } = await import("../schema/schema.ts");
  try {
    compileSchema(schema, { schemaName: "schema" });
  } catch (error) {
    if (error instanceof SchemaError) {
      throw new ConfigurationError(`--json-schema ${path}: ${error.message}`, { cause: error });
    }
    throw error;
  }
  return { name, schema: schema as JsonObject };
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FileError(`--json-schema ${path} is not JSON: ${messageOf(error)}`, { cause: error });
  }
}

/** The answer without a Markdown fence around all of it; models add one although they were asked not to. */
export function withoutFence(answer: string): string {
  const match = /^\s*(`{3,})[\w.+-]*[ \t]*\r?\n([\s\S]*?)\r?\n?\1\s*$/.exec(answer);
  // A fence that begins a line within means several blocks; within a text of JSON it cannot begin one.
  return match === null || new RegExp(`^[ \\t]*${match[1]}`, "m").test(match[2]!) ? answer : match[2]!;
}
