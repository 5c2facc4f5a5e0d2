/** Paths, as Deno ships them. */
export { basename, delimiter, dirname, extname, isAbsolute, join, posix, relative, resolve, sep } from "node:path";

/** Variables that the module reads: none. */
export const PATH_ENVIRONMENT = [] as const;
