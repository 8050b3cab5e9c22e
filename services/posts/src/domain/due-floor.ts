/**
 * Interval in milliseconds at which a query for due posts covers all scheduled times instead of only those from
 * `DueFloor` on.
 */
const COMPLETE_MS = 30_000;

/**
 * The scheduled time from which the scheduler looks for due posts. Posts that have been started leave entries in the
 * database index. A long snapshot (a backup, a query on a standby) keeps these entries there, and a query from the
 * beginning of the index would read all of them.
 *
 * A post is scheduled for a time after its API request, so a post whose scheduled time is before this floor is rare:
 * its request took longer than the time between the floor and the database's time. A query for all scheduled times,
 * every 30 seconds, finds such a post.
 */
export class DueFloor {
  #at: Date | null = null;
  #completeAt = Number.NEGATIVE_INFINITY;

  /** Returns the scheduled time from which the next query looks for due posts; null when the query covers all times. */
  next(nowMs: number): Date | null {
    if (nowMs - this.#completeAt < COMPLETE_MS) return this.#at;
    this.#completeAt = nowMs;
    return null;
  }

  /**
   * Moves the floor to a scheduled time before which the last query, which started at the previous floor, found no
   * post.
   */
  moveTo(at: Date): void {
    this.#at = at;
  }
}
