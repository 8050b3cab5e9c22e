import { isUniqueViolation, type Sql } from "@postrider/shared/postgres";
import { Batcher } from "@postrider/shared/process/batcher";
import {
  explainUnmarked,
  markCalls,
  type MarkRequest,
  type Unmarked,
} from "#src/publishing/db/marks.ts";
import { nameTask } from "#src/publishing/domain/task.ts";

export type MarkResult =
  | { readonly kind: "marked"; readonly callNumber: number }
  | { readonly kind: "unmarked"; readonly reason: Unmarked };

/** How long requests to begin publishing calls are collected before they are written in one SQL statement. */
const WINDOW_MS = 2;
/** Maximum number of publishing calls that one SQL statement marks as begun. */
const MAX_MARKS = 100;

/** Marks the publishing calls of all workers of the process as begun. */
export class CallMarker {
  readonly #sql: Sql;
  readonly #batcher: Batcher<MarkRequest, MarkResult>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#batcher = new Batcher({
      windowMs: WINDOW_MS,
      maxItems: MAX_MARKS,
      flush: (requests) => this.#mark(requests),
    });
  }

  /**
   * Marks a publishing call as begun; only then may the call be sent. Throws if the database does not answer; then the call
   * may not be sent either.
   */
  mark(request: MarkRequest): Promise<MarkResult> {
    return this.#batcher.submit(request);
  }

  async #mark(requests: readonly MarkRequest[]): Promise<readonly MarkResult[]> {
    try {
      const marks = await markCalls(this.#sql, requests);
      const callNumbers = new Map(marks.map((mark) => [nameTask(mark), mark.callNumber]));
      return await Promise.all(
        requests.map((request) => this.#toResult(request, callNumbers.get(nameTask(request)))),
      );
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      return await this.#markOneByOne(requests);
    }
  }

  async #toResult(request: MarkRequest, callNumber: number | undefined): Promise<MarkResult> {
    if (callNumber !== undefined) return { kind: "marked", callNumber };
    return { kind: "unmarked", reason: await explainUnmarked(this.#sql, request) };
  }

  /**
   * Marks each publishing call in a statement of its own. It is needed when the request of one worker violated a unique index,
   * which undid the common statement for all workers.
   */
  async #markOneByOne(requests: readonly MarkRequest[]): Promise<readonly MarkResult[]> {
    if (requests.length === 1) return [{ kind: "unmarked", reason: "busy" }];
    const results: MarkResult[] = [];
    for (const request of requests) results.push(...(await this.#mark([request])));
    return results;
  }
}

/** The publishing calls of this process that have not ended, with their deadlines. */
export class OpenCalls {
  readonly #deadlines = new Set<{ readonly ms: number }>();

  /** Registers a publishing call that ends within `callMs`. Disposing of the result ends the registration. */
  begin(callMs: number): Disposable {
    const deadline = { ms: performance.now() + callMs };
    this.#deadlines.add(deadline);
    return { [Symbol.dispose]: () => void this.#deadlines.delete(deadline) };
  }

  /** Whole milliseconds until the last deadline of the open publishing calls; 0 when no call is open. */
  remainingMs(): number {
    const now = performance.now();
    return Math.max(0, ...[...this.#deadlines].map(({ ms }) => Math.ceil(ms - now)));
  }
}
