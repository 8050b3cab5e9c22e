import { isUniqueViolation, type Sql } from "@postrider/shared/postgres";
import {
  explainUnmarked,
  markCalls,
  type Mark,
  type MarkRequest,
  type Unmarked,
} from "#src/publishing/db/marks.ts";
import { nameTask } from "#src/publishing/db/task-keys.ts";
import { Gatherer } from "./gatherer.ts";

export type MarkResult = Mark | Unmarked;

const WINDOW_MS = 2;
const MAX_MARKS = 100;

/** Marks the visible calls of all workers of the process, gathered into one statement. */
export class CallMarker {
  readonly #sql: Sql;
  readonly #gatherer: Gatherer<MarkRequest, MarkResult>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#gatherer = new Gatherer({
      windowMs: WINDOW_MS,
      maxItems: MAX_MARKS,
      flush: (requests) => this.#mark(requests),
    });
  }

  /** The mark, or why the call may not begin. Throws when the database does not answer: then it may not begin either. */
  mark(request: MarkRequest): Promise<MarkResult> {
    return this.#gatherer.submit(request);
  }

  async #mark(requests: readonly MarkRequest[]): Promise<readonly MarkResult[]> {
    try {
      const marks = await markCalls(this.#sql, requests);
      const byName = new Map(marks.map((mark) => [nameTask(mark), mark]));
      return await Promise.all(
        requests.map(
          async (request) =>
            byName.get(nameTask(request)) ?? (await explainUnmarked(this.#sql, request)),
        ),
      );
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      return await this.#markOneByOne(requests);
    }
  }

  /** One of them met an index, and the statement was undone for all: the others get their own. */
  async #markOneByOne(requests: readonly MarkRequest[]): Promise<readonly MarkResult[]> {
    if (requests.length === 1) return ["busy"];
    const results: MarkResult[] = [];
    for (const request of requests) results.push(...(await this.#mark([request])));
    return results;
  }
}
