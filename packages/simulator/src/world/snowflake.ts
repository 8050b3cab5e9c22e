import { randomInt } from "node:crypto";

const EPOCH_MS = 1_288_834_974_657n;
const SEQUENCE_BITS = 12n;
const WORKER_BITS = 10n;

/**
 * They grow with time. A random number keeps two simulator processes from generating the same id.
 */
export class Snowflakes {
  readonly #worker = BigInt(randomInt(1 << Number(WORKER_BITS)));
  #latest = 0n;

  next(now: number): string {
    const moment = (BigInt(now) - EPOCH_MS) << (WORKER_BITS + SEQUENCE_BITS);
    const candidate = moment | (this.#worker << SEQUENCE_BITS);
    this.#latest = candidate > this.#latest ? candidate : this.#latest + 1n;
    return this.#latest.toString();
  }
}
