/** Facts about the product that other files print. They stand here once. */

/** The command's name, also the prefix of every line it writes to standard error. */
export const PRODUCT_NAME = "lait";

/** The version; a test holds it equal to `deno.json`. A plain constant, because a module run by URL reads no manifest. */
export const VERSION = "0.1.0";

/** The package on JSR. */
export const JSR_NAME = "@lait/lait";

/** Where the source lives. */
export const REPOSITORY_URL = "https://github.com/lait-dev/lait";

/** The folder, in a project, that holds what lait writes there. */
export const WORKING_FOLDER = ".lait";

/** The names under which a project's configuration is found; two of them in one directory are an error. */
export const CONFIG_NAMES: readonly string[] = ["lait.config.yml", "lait.config.yaml"];

/** The OpenAI-compatible server that is asked when nothing else is configured. */
export const DEFAULT_BASE_URL = "http://localhost:1234/v1";

/** The bearer value sent when no key is configured: local servers want one, and any will do. */
export const DUMMY_API_KEY = "lm-studio";
