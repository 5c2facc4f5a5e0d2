/** What goes wrong while a template is rendered. */
import { formatPlace, type Place } from "../../base/diagnostic.ts";
import { LaitError } from "../../base/errors.ts";
import { placeInText, type Position, type TextPlace } from "../text_place.ts";

/** Where a fault of a template is: in the file when that is known, and always in the template. */
export interface TemplateSite {
  /** The line and column in the template. */
  readonly position: Position;
  /** The place in the file; undefined when the template comes from no file. */
  readonly place: Place | undefined;
  /** Says where in the template, when the place in the file does not; else empty. */
  readonly remark: string;
}

/** A template cannot be rendered with the data that it was given. */
export class TemplateError extends LaitError {
  /** The path that is not defined or has a value that cannot be used, as written in the template. */
  readonly path: string | undefined;
  /** The line and column in the template, from 1. */
  readonly position: Position;
  /** The place in the file that the template comes from, as exact as it is known. */
  readonly place: Place | undefined;

  /** Creates the error; `reason` says what is wrong without saying where. */
  constructor(reason: string, site: TemplateSite, path?: string) {
    const where = [site.place === undefined ? "" : formatPlace(site.place), site.remark].filter((part) => part !== "");
    const { line, column } = site.position;
    super("configuration", `${reason} (${where.join(", ")})`, {
      details: { line, column, ...(path === undefined ? {} : { path }) },
    });
    this.path = path;
    this.position = site.position;
    this.place = site.place;
  }
}

/** Where a position of a template is. `origin` is the place of the whole template `source`. */
export function siteOf(source: string, origin: TextPlace | undefined, position: Position): TemplateSite {
  const exact = origin === undefined ? undefined : placeInText(origin, source, position);
  if (exact !== undefined) return { position, place: exact, remark: "" };
  const remark = `line ${position.line}, column ${position.column} of the template`;
  if (origin === undefined) return { position, place: undefined, remark };
  const { file, line, column } = origin;
  const place = { file, ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }) };
  return { position, place, remark };
}
