/** What only tests import, each at an exact version. */
export { z } from "npm:zod@4.6.7";
export { maxLength, number, object, pipe, string, transform } from "npm:valibot@1.5.0";
export { toStandardJsonSchema } from "npm:@valibot/to-json-schema@1.8.0";
export { type } from "npm:arktype@2.2.10";

/** An independent model server. */
export { LLMock } from "npm:@copilotkit/aimock@1.43.0";

/** The real jq 1.7, as WASM. */
export { default as jqWeb } from "npm:jq-web@0.6.2";
