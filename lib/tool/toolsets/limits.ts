/** The numbers of the ready toolsets. Sizes are bytes unless the name says otherwise. */

const MIB = 1024 * 1024;

/** The table; frozen. */
export const TOOLSET_LIMITS = Object.freeze({
  /** Lines of one `read_file`. */
  readLines: 2_000,
  /** A file that `read_file` and `edit_file` accept, and that `search` reads without Git. */
  fileBytes: 4 * MIB,
  /** Where a NUL marks a file as binary: among its first bytes. */
  binaryProbeBytes: 8_000,
  /** Paths that `list_files` shows. */
  listedFiles: 1_000,
  /** Without Git: files below a path, and the bytes of their names. */
  foundFiles: 100_000,
  foundNameBytes: 2_000_000,
  /** Lines that `search` shows. */
  matches: 200,
  /** Without Git: what one `search` reads in all, and what it answers. */
  searchedBytes: 32 * MIB,
  matchBytes: 200_000,
  /** Characters of each stream that `git`, `shell` and `search` keep. */
  streamCharacters: 200_000,
  /** How long a `shell` command may run, in milliseconds, unless the toolset was told otherwise. */
  shellDeadlineMs: 120_000,
});
