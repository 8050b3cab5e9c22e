const MAX_ENTRIES = 10_000;

/**
 * How often each event has failed alone. Kept in memory: losing it by a restart costs a few more tries, while writing it
 * down would need a transaction of its own beside the one that is rolled back.
 */
export class TryCounts {
  readonly #counts = new Map<string, number>();

  /** Counts one more failure and returns how many there are. */
  add(eventId: string): number {
    const count = (this.#counts.get(eventId) ?? 0) + 1;
    if (this.#counts.size >= MAX_ENTRIES) this.#counts.clear();
    this.#counts.set(eventId, count);
    return count;
  }

  /** The count, at least 1, which is forgotten. */
  take(eventId: string): number {
    const count = this.#counts.get(eventId) ?? 1;
    this.#counts.delete(eventId);
    return count;
  }
}
