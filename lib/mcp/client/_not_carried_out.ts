/** A request that the server has certainly not carried out. */

/** It can be sent once more, over a new connection; `cause` is what to tell when that fails, too. */
export class NotCarriedOut extends Error {
  /** A request that was not carried out. */
  constructor(cause: unknown) {
    super("the request was not carried out", { cause });
  }
}
