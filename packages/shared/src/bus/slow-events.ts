import { isTooSlow } from "./batch-size.ts";

interface SlowEvent {
  readonly id: string;
  readonly since: number;
  readonly tries: number;
  readonly error: unknown;
}

/**
 * The event that exceeds the limits of the database although it is handled alone: each further try
 * would end the same way, and the events behind it would wait for ever. In memory, and only the
 * last one, because a consumer tries one at a time.
 */
export class SlowEvents {
  readonly #maxMs: number;
  #last: SlowEvent | undefined;

  /** @param maxMs How long it is tried again, because the database itself may be slow. */
  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  /** @param startedAt When the try began, by `performance.now()`. */
  failed(id: string, error: unknown, startedAt: number): void {
    const now = performance.now();
    if (!isTooSlow(error, now - startedAt)) return;
    const before = this.#last?.id === id ? this.#last : { since: startedAt, tries: 0 };
    this.#last = { id, since: before.since, tries: before.tries + 1, error };
  }

  /** Returns how it failed if it is not to be tried again. */
  findGivenUp(id: string): Pick<SlowEvent, "tries" | "error"> | undefined {
    const last = this.#last;
    if (last?.id !== id || performance.now() - last.since < this.#maxMs) return undefined;
    return last;
  }
}
