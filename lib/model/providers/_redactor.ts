/** Keeping keys out of messages, also those that a server has cut or masked. */

// `sk-12***ef`, `sk-12...ef` or `sk-12…ef`: how servers show a key that they refuse.
const MASKED = /([\w-]*)(?:\*{2,}|\.{3}|…)([\w-]*)/g;
/** Below this many characters nothing is a key or a telling part of one. */
const TELLING = 3;

/** Takes the given keys out of texts. */
export class Redactor {
  readonly #secrets: readonly string[];

  /** Knows the secrets as they are and as JSON writes them. */
  constructor(secrets: readonly string[]) {
    const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
    this.#secrets = [...new Set(forms)].filter((secret) => secret.length > TELLING)
      .toSorted((a, b) => b.length - a.length);
  }

  /** The text with each secret replaced by `***`. With `cut`, also one whose beginning ends the text. */
  clean(text: string, cut: boolean = false): string {
    let clean = text;
    for (const secret of this.#secrets) clean = clean.replaceAll(secret, "***");
    clean = clean.replace(
      MASKED,
      (shown, head: string, tail: string) => this.#isMasked(head, tail) ? "***" : shown,
    );
    return cut ? this.#withoutTrailingPart(clean) : clean;
  }

  #isMasked(head: string, tail: string): boolean {
    return this.#secrets.some((secret) =>
      (head.length >= TELLING && secret.startsWith(head)) || (tail.length >= TELLING && secret.endsWith(tail))
    );
  }

  #withoutTrailingPart(text: string): string {
    for (const secret of this.#secrets) {
      for (let length = Math.min(secret.length - 1, text.length); length >= TELLING; length--) {
        if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}***`;
      }
    }
    return text;
  }
}
