import { isTooSlow } from "@postrider/shared/bus/batch-size";
import { isInfrastructureError, isUniqueViolation, type Sql } from "@postrider/shared/postgres";
import { Batcher } from "@postrider/shared/process/batcher";
import {
  explainUnmarked,
  markCalls,
  noteRefused,
  type CommonReason,
  type MarkedTable,
  type MarkRequest,
} from "./marks.ts";
import type { Leased } from "./table.ts";

const WINDOW_MS = 1;
const MAX_MARKS = 100;
/** A statement that waits for locks of another process delays other marks for at most this time. */
const PATIENCE_MS = 200;

export type MarkResult<Reason extends string> =
  | { readonly kind: "marked"; readonly callNumber: number }
  | { readonly kind: "unmarked"; readonly reason: Reason | CommonReason };

export class CallMarker<Key extends object, Reason extends string> {
  readonly #sql: Sql;
  readonly #table: MarkedTable<Key, never, Reason>;
  readonly #name: (call: Key & Leased) => string;
  readonly #batcher: Batcher<Key & MarkRequest, MarkResult<Reason>>;

  /** @param name Names a claim: the key and the fence. */
  constructor(
    sql: Sql,
    table: MarkedTable<Key, never, Reason>,
    name: (call: Key & Leased) => string,
  ) {
    this.#sql = sql;
    this.#table = table;
    this.#name = name;
    this.#batcher = new Batcher({
      windowMs: WINDOW_MS,
      maxItems: MAX_MARKS,
      patienceMs: PATIENCE_MS,
      flush: (requests) => this.#mark(requests),
    });
  }

  /** Throws without an answer: the call may be marked then, but the worker may not send it. */
  mark(request: Key & MarkRequest): Promise<MarkResult<Reason>> {
    return this.#batcher.submit(request);
  }

  async #mark(requests: readonly (Key & MarkRequest)[]): Promise<readonly MarkResult<Reason>[]> {
    try {
      const marks = await markCalls(this.#sql, this.#table, requests);
      const callNumbers = new Map(marks.map((mark) => [this.#name(mark), mark.callNumber]));
      return await Promise.all(
        requests.map(async (request): Promise<MarkResult<Reason>> => {
          const callNumber = callNumbers.get(this.#name(request));
          if (callNumber !== undefined) return { kind: "marked", callNumber };
          const reason = await this.#explain(request);
          return reason === "busy" ? await this.#onRefused(request) : { kind: "unmarked", reason };
        }),
      );
    } catch (error) {
      if (isUniqueViolation(error)) return await this.#markOneByOne(requests);
      // Only errors of the statement itself: after a lost connection the calls may be marked.
      if (isTooSlow(error, 0)) return await this.#markHalves(requests);
      throw error;
    }
  }

  /** A call that is too slow alone is tried again later, so that the others can be sent now. */
  async #markHalves(
    requests: readonly (Key & MarkRequest)[],
  ): Promise<readonly MarkResult<Reason>[]> {
    if (requests.length === 1) return [{ kind: "unmarked", reason: "busy" }];
    const middle = Math.ceil(requests.length / 2);
    const halves = [requests.slice(0, middle), requests.slice(middle)];
    return (await Promise.all(halves.map((half) => this.#mark(half)))).flat();
  }

  /** `busy` without an answer: an error would also reach workers whose calls were marked. */
  async #explain(request: Key & MarkRequest): Promise<Reason | CommonReason> {
    try {
      return await explainUnmarked(this.#sql, this.#table, request);
    } catch (error) {
      if (!isInfrastructureError(error)) throw error;
      return "busy";
    }
  }

  /** As in `#explain`; a call that is not noted is only tried again sooner. */
  async #onRefused(request: Key & MarkRequest): Promise<MarkResult<Reason>> {
    try {
      await noteRefused(this.#sql, this.#table, request);
    } catch (error) {
      if (!isInfrastructureError(error)) throw error;
    }
    return { kind: "unmarked", reason: "busy" };
  }

  /**
   * Follows when one call violated a unique index, which undid the common statement of all workers.
   */
  async #markOneByOne(
    requests: readonly (Key & MarkRequest)[],
  ): Promise<readonly MarkResult<Reason>[]> {
    const [first, ...others] = requests;
    if (first !== undefined && others.length === 0) return [await this.#onRefused(first)];
    const results: MarkResult<Reason>[] = [];
    for (const request of requests) results.push(...(await this.#mark([request])));
    return results;
  }
}
