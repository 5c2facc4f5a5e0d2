/** `ask`: a question for a person. */
import { ConfigurationError, LaitError } from "../../base/errors.ts";
import type { Template } from "../../source/template/template.ts";
import { filled, text, texts } from "../schema_parts.ts";
import type { Kind } from "./kind.ts";

/** The fields of an ask step. */
export interface AskBody {
  readonly question: Template | undefined;
  readonly choices: readonly string[] | undefined;
  readonly fallback: string | undefined;
  readonly multiline: boolean;
}

/** See the module. */
export const askKind: Kind<AskBody> = {
  name: "ask",
  schema: filled("The question, a template"),
  fields: {
    choices: { ...texts("What may be answered", 1), items: { type: "string", minLength: 1 } },
    default: text("The answer where nobody can be asked"),
    multiline: { type: "boolean", default: false, description: "Whether the answer goes to the end of the input" },
  },
  read(reader) {
    const text = reader.filled("ask");
    const question = text === undefined ? undefined : reader.parse(text, reader.placeOf("ask"));
    const choices = reader.texts("choices")?.map(({ text }) => text);
    if (choices?.length === 0 || choices?.includes("")) {
      reader.fault("choices", "choices", "`choices` must hold texts that are not empty");
    }
    const fallback = reader.text("default");
    if (fallback !== undefined && choices !== undefined && !choices.includes(fallback)) {
      reader.fault(
        "default",
        "choices",
        `\`default\` must be one of the choices: ${choices.join(", ")} (got '${fallback}')`,
      );
    }
    return { question, choices, fallback, multiline: reader.boolean("multiline") ?? false };
  },
  bodies: () => [],
  async run({ question, choices, fallback, multiline }, step) {
    const text = step.render(question!);
    const answer = await step.scope.file.host.ask({ text, choices, multiline }, step.signal) ?? fallback;
    if (answer === undefined) {
      throw new ConfigurationError("standard input is not an interactive terminal, and the step has no `default`");
    }
    if (choices !== undefined && !choices.includes(answer)) {
      throw new LaitError("tool", `the answer '${answer}' is none of the choices: ${choices.join(", ")}`);
    }
    return { value: answer };
  },
  plan({ question, choices, fallback }, writer) {
    writer.template("ask", question);
    if (choices !== undefined) writer.line(`choices: ${choices.join(", ")}`);
    writer.line(fallback === undefined ? "default: none (fails without a terminal)" : `default: ${fallback}`);
  },
  detail: () => [],
};
