const MAX_ENTRIES = 10_000;

/**
 * Counts how often each event has failed when it was processed alone. The counts are only in memory: a restart repeats
 * a few tries, whereas storing the counts would need a second transaction, because the transaction that processes the
 * events is rolled back.
 */
export class TryCounts {
  readonly #counts = new Map<string, number>();

  /** Counts a failure of an event and returns the number of its failures. */
  add(eventId: string): number {
    const count = (this.#counts.get(eventId) ?? 0) + 1;
    if (this.#counts.size >= MAX_ENTRIES) this.#counts.clear();
    this.#counts.set(eventId, count);
    return count;
  }

  /** Returns the number of failures of an event, at least 1, and forgets the event. */
  take(eventId: string): number {
    const count = this.#counts.get(eventId) ?? 1;
    this.#counts.delete(eventId);
    return count;
  }
}
