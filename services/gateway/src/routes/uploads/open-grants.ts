import { createHash } from "node:crypto";

const MAX_GRANTS = 20_000;

interface Grant {
  readonly uploadPath: string;
  readonly uploadToken: string;
}

function keyOf({ uploadPath, uploadToken }: Grant): string {
  return createHash("sha256").update(`${uploadPath} ${uploadToken}`).digest("base64");
}

/**
 * The newest upload grants of which this gateway knows that they exist: it gave them out, or the
 * media service found a fault only in what was sent.
 */
export class OpenGrants {
  readonly #keys = new Set<string>();

  add(grant: Grant): void {
    const key = keyOf(grant);
    this.#keys.delete(key);
    this.#keys.add(key);
    const [oldest = ""] = this.#keys;
    if (this.#keys.size > MAX_GRANTS) this.#keys.delete(oldest);
  }

  has(grant: Grant): boolean {
    return this.#keys.has(keyOf(grant));
  }

  /** It is used, or does not exist any more. */
  remove(grant: Grant): void {
    this.#keys.delete(keyOf(grant));
  }
}
