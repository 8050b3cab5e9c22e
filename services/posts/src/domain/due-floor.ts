/** Interval in milliseconds at which a query for due posts starts at the beginning. */
const COMPLETE_MS = 30_000;

/**
 * The scheduled time from which the scheduler looks for due posts. Started posts leave entries in the index that a long
 * snapshot (a backup, a query on a standby) keeps there, and a query from the beginning would read every one of them.
 *
 * A post is scheduled for a time after its request, so a post below the floor is rare: its request took longer than the
 * distance of the floor to the database's time. Such a post is found by the complete query, every 30 seconds.
 */
export class DueFloor {
  #at: Date | null = null;
  #completeAt = Number.NEGATIVE_INFINITY;

  /** Returns the scheduled time at which the next query starts; null when it starts at the beginning. */
  next(nowMs: number): Date | null {
    if (nowMs - this.#completeAt < COMPLETE_MS) return this.#at;
    this.#completeAt = nowMs;
    return null;
  }

  /** Moves the floor to a time below which the last query, which started at the floor, found no post. */
  moveTo(at: Date): void {
    this.#at = at;
  }
}
