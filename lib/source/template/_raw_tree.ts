/** The trees that Handlebars' grammar makes, as far as they are used. */
import type { Position } from "../text_place.ts";

/** A place in the package's trees; columns count from 0. */
export interface RawLocation {
  readonly start: Position;
}

/** A template or the body of a block. */
export interface RawProgram {
  readonly type: "Program";
  readonly body: readonly RawStatement[];
  readonly blockParams?: readonly string[];
}

/** A statement of the package's trees. */
export type RawStatement =
  | { readonly type: "ContentStatement"; readonly value: string }
  | { readonly type: "CommentStatement" }
  | RawMustache
  | RawBlock
  | { readonly type: "PartialStatement" | "PartialBlockStatement"; readonly loc: RawLocation }
  | { readonly type: "Decorator" | "DecoratorBlock"; readonly path: RawPath; readonly loc: RawLocation };

/** `{{ … }}`. */
export interface RawMustache extends RawCall {
  readonly type: "MustacheStatement";
}

/** `{{#…}}…{{/…}}`. */
export interface RawBlock extends RawCall {
  readonly type: "BlockStatement";
  readonly program?: RawProgram;
  readonly inverse?: RawProgram;
  /** Without `open` for a raw block, `{{{{…}}}}`. */
  readonly openStrip: { readonly open?: boolean };
}

/** What has a name and arguments. */
export interface RawCall {
  readonly path: RawExpression;
  readonly params: readonly RawExpression[];
  readonly hash?: {
    readonly pairs: readonly { readonly key: string; readonly value: RawExpression; readonly loc: RawLocation }[];
  };
  readonly loc: RawLocation;
}

/** An expression of the package's trees. */
export type RawExpression =
  | RawPath
  | (RawCall & { readonly type: "SubExpression" })
  | { readonly type: "StringLiteral"; readonly value: string; readonly loc: RawLocation }
  | { readonly type: "NumberLiteral"; readonly value: number; readonly loc: RawLocation }
  | { readonly type: "BooleanLiteral"; readonly value: boolean; readonly loc: RawLocation }
  | { readonly type: "NullLiteral" | "UndefinedLiteral"; readonly loc: RawLocation };

/** A path of the package's trees. */
export interface RawPath {
  readonly type: "PathExpression";
  readonly data: boolean;
  readonly depth: number;
  readonly parts: readonly string[];
  readonly original: string;
  readonly loc: RawLocation;
}
