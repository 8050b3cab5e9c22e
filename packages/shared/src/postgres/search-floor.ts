/** How often a search reads all rows, not only those from its floor on. */
const COMPLETE_MS = 30_000;

/**
 * The time from which a repeated search for due rows reads the index. Rows that no longer wait
 * leave entries there; while a long snapshot keeps these, a search from the beginning would read
 * all of them.
 *
 * The search returns the next floor: one minute before the first row that it found, or before the
 * database's time if that is earlier. A transaction that writes only due times after its own start,
 * and ends within less than a minute, adds no row below it. A complete search every 30 seconds
 * finds other rows, for example of a restored database.
 */
export class SearchFloor<T = Date> {
  #from: T | null = null;
  #completeAt = Number.NEGATIVE_INFINITY;

  /** What the last search returned; null before the first. */
  get from(): T | null {
    return this.#from;
  }

  /** Null if the search must read all rows. */
  next(nowMs: number): T | null {
    if (nowMs - this.#completeAt < COMPLETE_MS) return this.#from;
    this.#completeAt = nowMs;
    return null;
  }

  /** What the last search returned. */
  moveTo(from: T): void {
    this.#from = from;
  }

  /** Called after an error that may mean that the connection now leads to another database. */
  reset(): void {
    this.#completeAt = Number.NEGATIVE_INFINITY;
  }
}
