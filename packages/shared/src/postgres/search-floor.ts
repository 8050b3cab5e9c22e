/** Interval in milliseconds at which a search for due rows reads all rows, not only those from its floor on. */
const COMPLETE_MS = 30_000;

/**
 * The floor of a repeated search for due rows: the time from which the search reads the index of due times. Rows that are no
 * longer waiting leave entries in that index. While a long snapshot (a backup, a query on a standby) keeps these entries there,
 * a search from the beginning of the index would read all of them.
 *
 * The search returns the next floor: one minute before the first row that it found, or one minute before the database's time if
 * that is earlier. A transaction that writes only due times after its own start, and that ends within less than a minute,
 * therefore adds no row below the floor. A complete search every 30 seconds finds other rows, for example those of a database
 * that was restored or whose clock was set back.
 */
export class SearchFloor<T = Date> {
  #from: T | null = null;
  #completeAt = Number.NEGATIVE_INFINITY;

  /** Returns the floor of the next search for due rows; null if that search must read all rows. */
  next(nowMs: number): T | null {
    if (nowMs - this.#completeAt < COMPLETE_MS) return this.#from;
    this.#completeAt = nowMs;
    return null;
  }

  /** Sets the floor of the next search: the floor that the last search returned. */
  moveTo(from: T): void {
    this.#from = from;
  }

  /** Makes the next search complete, after an error that may mean that the connection leads to another database. */
  reset(): void {
    this.#completeAt = Number.NEGATIVE_INFINITY;
  }
}
