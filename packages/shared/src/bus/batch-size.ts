import { MAX_BATCH_RECORDS } from "#src/bus.ts";

/** A statement or transaction took too long, or needed too much memory or temporary files. */
const LIMIT_STATES = new Set(["57014", "25P04", "53200", "53400"]);
/** A connection lost later was too slow: the database ends a long transaction with it. */
const LONG_MS = 5_000;
/** After a successful batch that was shorter, the next one may have more records. */
const SHORT_MS = 2_000;

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

/** Whether work failed because it exceeded a limit of the database. */
export function isTooSlow(error: unknown, tookMs: number): boolean {
  const code = codeOf(error);
  if (typeof code !== "string") return false;
  return LIMIT_STATES.has(code) || (code.startsWith("CONNECTION_") && tookMs >= LONG_MS);
}

/** A batch that exceeds limits of the database is halved, down to one; short ones are doubled. */
export class BatchSize {
  #records = MAX_BATCH_RECORDS;

  get records(): number {
    return this.#records;
  }

  succeeded(count: number, tookMs: number): void {
    const mayGrow = tookMs <= SHORT_MS && count >= this.#records;
    if (mayGrow) this.#records = Math.min(MAX_BATCH_RECORDS, this.#records * 2);
  }

  /** Other errors than exceeded limits do not change the size. */
  failed(error: unknown, count: number, tookMs: number): void {
    if (isTooSlow(error, tookMs)) this.#records = Math.max(1, Math.floor(count / 2));
  }
}
