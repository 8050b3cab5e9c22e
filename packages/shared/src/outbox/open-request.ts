import type { OpenRequest, OutboxRow } from "./publish-rows.ts";

/**
 * How long a request to the event bus may stay without an answer, in milliseconds. Then the outbox relay sends the
 * events of the request again. The Kafka client ends its own attempt before that.
 */
const MAX_OPEN_MS = 30_000;

/**
 * Keeps the request to the event bus that had no answer when the relay's transaction for it ended, if there is one. While the
 * request is open, the outbox relay sends nothing else: a later request that overtakes it would change the order of events, and
 * sending the same events again would make a slow event bus slower.
 */
export class OpenRequestSlot {
  #rows: readonly OutboxRow[] = [];
  #isOpen = false;
  #givenUpAt = 0;

  hold({ rows, answer }: OpenRequest): void {
    this.#rows = rows;
    this.#isOpen = true;
    this.#givenUpAt = performance.now() + MAX_OPEN_MS;
    const settle = (stored: readonly OutboxRow[]): void => {
      if (this.#rows !== rows) return;
      this.#rows = stored;
      this.#isOpen = false;
    };
    answer.then(
      () => settle(rows),
      () => settle([]),
    );
  }

  isWaiting(): boolean {
    if (this.#isOpen && performance.now() >= this.#givenUpAt) {
      this.#isOpen = false;
      this.#rows = [];
    }
    return this.#isOpen;
  }

  /**
   * The outbox rows of the request, once the event bus has stored them; empty after `clear`, which is called when the rows are
   * deleted from the outbox.
   */
  get stored(): readonly OutboxRow[] {
    return this.#isOpen ? [] : this.#rows;
  }

  clear(): void {
    this.#rows = [];
  }
}
