/** Handlebars' grammar alone: its compiler and run time are not used, and loading them would cost half as much again. */
export { parse, parser } from "npm:handlebars@4.7.10/dist/cjs/handlebars/compiler/base.js";

/** The environment variables that the package reads: none. */
export const HANDLEBARS_ENVIRONMENT: readonly string[] = [];
