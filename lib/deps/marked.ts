/** The Markdown lexer; its HTML is not used. */
export { lexer, type Token, type Tokens } from "npm:marked@18.2.1";

/** Variables that the package reads: none. */
export const MARKED_ENVIRONMENT = [] as const;
