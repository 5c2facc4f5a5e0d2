/** What compiling a schema throws. */
import { ConfigurationError, type LaitErrorOptions } from "../base/errors.ts";

/** A JSON Schema that cannot be used. Found before any value is checked. */
export class SchemaError extends ConfigurationError {
  /** Where in the schema the first fault is: `parameters.properties.zip.type`; also in `details.path`. */
  readonly path: string;

  /** Creates the error for the fault at `path`. */
  constructor(path: string, message: string, options: LaitErrorOptions = {}) {
    super(message, { ...options, details: { ...options.details, path } });
    this.path = path;
  }
}
