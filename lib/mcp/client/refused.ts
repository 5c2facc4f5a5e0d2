/** What a server says no to. */

/** The server answered a request with an error of the protocol: it has heard it, and refuses. */
export class RefusedRequest extends Error {
  /** The code that the server gave. */
  readonly code: number;

  /** What the server said. */
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
