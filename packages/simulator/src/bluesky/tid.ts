import { randomInt } from "node:crypto";

const ALPHABET = "234567abcdefghijklmnopqrstuvwxyz";
const TID = /^[234567abcdefghij][234567a-z]{12}$/;
const CLOCK_BITS = 10n;
const CHARACTERS = 13;

export function isTid(text: string): boolean {
  return TID.test(text);
}

/** Microseconds and a clock id in sortable base 32. */
export class Tids {
  readonly #clockId = BigInt(randomInt(1 << Number(CLOCK_BITS)));
  #latestMicros = 0n;

  next(now: number): string {
    const micros = BigInt(now) * 1000n;
    this.#latestMicros = micros > this.#latestMicros ? micros : this.#latestMicros + 1n;
    let rest = (this.#latestMicros << CLOCK_BITS) | this.#clockId;
    let text = "";
    for (let index = 0; index < CHARACTERS; index += 1) {
      text = (ALPHABET[Number(rest & 31n)] ?? "") + text;
      rest >>= 5n;
    }
    return text;
  }
}
