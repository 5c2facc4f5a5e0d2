/** The result of a tool as text for a model. */
import type { CallToolResult } from "../../deps/mcp.ts";

/**
 * Everything that the result says, as the command gives it to a model: texts as they are, every other block as its JSON,
 * then the structured content; parts stand apart by a blank line.
 */
export function renderResult({ content, structuredContent, isError }: CallToolResult): string {
  return [
    ...(isError === true ? ["isError: true"] : []),
    ...content.map((block) => block.type === "text" ? block.text : JSON.stringify(block)),
    ...(structuredContent === undefined ? [] : [`structuredContent:\n${JSON.stringify(structuredContent)}`]),
  ].join("\n\n");
}

type Block = CallToolResult["content"][number];

/**
 * The text of the result, as the API gives it to a model: media and links are markers; the structured content is taken
 * when there is no text.
 */
export function resultText({ content, structuredContent }: CallToolResult): string {
  if (structuredContent !== undefined && !content.some((block) => block.type === "text")) {
    return JSON.stringify(structuredContent);
  }
  return content.map(blockText).join("\n");
}

/** One block of content as text. */
export function blockText(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type}: ${block.mimeType}]`;
    case "resource_link":
      return `[resource: ${block.uri}]`;
    case "resource":
      return "text" in block.resource ? block.resource.text : `[resource: ${block.resource.uri}]`;
  }
}
