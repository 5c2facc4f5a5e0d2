/** Editing a line on a terminal, as Deno ships it. */
export { createInterface } from "node:readline";
export { EventEmitter } from "node:events";
export { Writable } from "node:stream";
export { Buffer } from "node:buffer";

/** Variables that the modules read: none. */
export const READLINE_ENVIRONMENT = [] as const;
