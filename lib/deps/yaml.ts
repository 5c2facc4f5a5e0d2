/** The YAML parser, with the place of every node. */
export { isAlias, isMap, isPair, isScalar, isSeq, parseDocument, Scalar } from "npm:yaml@2.9.1";
export type { Node as YamlNode, Pair as YamlPair } from "npm:yaml@2.9.1";

/** The environment variables that the package reads, at every token; when one is set it prints what it reads. */
export const YAML_ENVIRONMENT = ["LOG_TOKENS", "LOG_STREAM"] as const;
