import { MAX_BATCH_RECORDS } from "#src/bus.ts";

/**
 * SQLSTATEs of a statement and of a transaction that took longer than the database allows, and of one that needed more memory or
 * more temporary files.
 */
const LIMIT_STATES = new Set(["57014", "25P04", "53200", "53400"]);
/**
 * Time in milliseconds after which a batch that failed with a lost connection counts as too slow. The database ends a
 * transaction that is too long together with its connection, and the driver reports only the end of the connection.
 */
const LONG_MS = 5_000;
/** Maximum time in milliseconds of a successful batch after which the next one may have more records. */
const SHORT_MS = 2_000;

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

/** Whether work that took `tookMs` milliseconds failed because it outlasted a time limit of the database, or another of its limits. */
export function isTooSlow(error: unknown, tookMs: number): boolean {
  const code = codeOf(error);
  if (typeof code !== "string") return false;
  return LIMIT_STATES.has(code) || (code.startsWith("CONNECTION_") && tookMs >= LONG_MS);
}

/**
 * Maximum number of records in the next batch of a consumer. A batch that exceeds the limits of the database is
 * repeated with half of its records, down to one; short batches double the number again.
 */
export class BatchSize {
  #records = MAX_BATCH_RECORDS;

  get records(): number {
    return this.#records;
  }

  /** Notes that a batch of `count` records was processed. */
  succeeded(count: number, tookMs: number): void {
    const mayGrow = tookMs <= SHORT_MS && count >= this.#records;
    if (mayGrow) this.#records = Math.min(MAX_BATCH_RECORDS, this.#records * 2);
  }

  /** Notes that a batch of `count` records failed. Other errors than exceeded limits do not change the size. */
  failed(error: unknown, count: number, tookMs: number): void {
    if (isTooSlow(error, tookMs)) this.#records = Math.max(1, Math.floor(count / 2));
  }
}
