import { AsyncLocalStorage } from "node:async_hooks";
import type { Client } from "@connectrpc/connect";
import type {
  AdmissionService,
  AdmitResponse,
} from "@postrider/contracts/accounts/v1/admission_service_pb";
import { isApiKey } from "@postrider/shared/secrets/api-keys";
import type { Logger } from "@postrider/shared/telemetry/logger";

const BATCH_WINDOW_MS = 2;
const MAX_QUERIES = 500;
const MAX_CALLS_IN_FLIGHT = 4;
/** Maximum number of requests that wait for an answer: to further ones it would come too late. */
const MAX_WAITING = 10_000;
const TIMEOUT_MS = 1_000;
/** How long no call is made after one that failed. */
const PAUSE_MS = 100;
/** How long a call after a pause is the only one, unless it ends earlier. */
const PROBE_MS = 1_000;

export interface AdmissionSource {
  readonly key: string;
  readonly keyHash: Uint8Array;
  readonly workspaceId: string | undefined;
}

export interface Wanting {
  /** How many requests to admit; 0 to hear only about the key. */
  readonly want: 0 | 1;
}

export interface AdmissionQuery<Waiter> {
  readonly source: AdmissionSource;
  readonly waiters: Waiter[];
}

interface AdmitBatchesOptions<Waiter> {
  readonly client: Pick<Client<typeof AdmissionService>, "admit">;
  readonly now: () => number;
  readonly logger: Logger;
  /** The cell that a key names, if it is another one; empty otherwise. */
  readonly otherCellOf: (key: string) => string;
  /** Requests beyond the waiting ones for which the accounts service is asked. */
  readonly owedFor: (source: AdmissionSource) => number;
  /** Called once per call. `answer` is undefined if the accounts service did not answer. */
  readonly settle: (
    queries: readonly AdmissionQuery<Waiter>[],
    answer: AdmitResponse | undefined,
    askedAt: number,
  ) => void;
}

function pairIdOf({ key, workspaceId }: AdmissionSource): string {
  return workspaceId === undefined ? key : `${key} ${workspaceId}`;
}

/** While the accounts service is silent, one call at a time finds out if it answers again. */
export class AdmitBatches<Waiter extends Wanting> {
  readonly #options: AdmitBatchesOptions<Waiter>;
  readonly #pending = new Map<string, AdmissionQuery<Waiter>>();
  readonly #inFlight = new Set<Promise<void>>();
  // A call serves many requests, so it carries neither the request id nor the deadline of any of
  // them.
  readonly #outsideRequests = AsyncLocalStorage.snapshot();
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Time of the next call during an outage; undefined while the accounts service answers. */
  #pausedUntil: number | undefined;

  constructor(options: AdmitBatchesOptions<Waiter>) {
    this.#options = options;
  }

  isOpen(now: number): boolean {
    return this.#waiting < MAX_WAITING && now >= (this.#pausedUntil ?? -Infinity);
  }

  /** Only while this is open. */
  enqueue(source: AdmissionSource, waiter: Waiter, now: number): void {
    if (this.#pausedUntil !== undefined) this.#pausedUntil = now + PROBE_MS;
    this.#waiting += 1;
    const pairId = pairIdOf(source);
    const query = this.#pending.get(pairId) ?? { source, waiters: [] };
    query.waiters.push(waiter);
    this.#pending.set(pairId, query);
    this.#schedule();
  }

  /** Resolves when every call has ended. */
  async drain(): Promise<void> {
    while (this.#pending.size > 0 || this.#inFlight.size > 0) {
      this.#flush();
      await Promise.all(this.#inFlight);
    }
  }

  #schedule(): void {
    const isBusy = this.#inFlight.size >= MAX_CALLS_IN_FLIGHT;
    if (this.#timer !== undefined || this.#pending.size === 0 || isBusy) return;
    this.#timer = this.#outsideRequests(() => setTimeout(() => this.#flush(), BATCH_WINDOW_MS));
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#pending.size > 0 && this.#inFlight.size < MAX_CALLS_IN_FLIGHT) {
      const queries = [...this.#pending.values()].slice(0, MAX_QUERIES);
      for (const { source } of queries) this.#pending.delete(pairIdOf(source));
      const call = this.#send(queries).finally(() => {
        this.#inFlight.delete(call);
        this.#schedule();
      });
      this.#inFlight.add(call);
    }
  }

  async #send(queries: readonly AdmissionQuery<Waiter>[]): Promise<void> {
    const { settle, now } = this.#options;
    const askedAt = now();
    const answer = await this.#call(queries);
    for (const { waiters } of queries) this.#waiting -= waiters.length;
    settle(queries, answer, askedAt);
  }

  async #call(queries: readonly AdmissionQuery<Waiter>[]): Promise<AdmitResponse | undefined> {
    const { client, owedFor, otherCellOf, logger, now } = this.#options;
    const messages = queries.map(({ source, waiters }) => {
      const { key, keyHash, workspaceId } = source;
      const named = workspaceId === undefined ? {} : { workspaceId };
      const session = isApiKey(key, "session");
      const want = waiters.filter((waiter) => waiter.want > 0).length + owedFor(source);
      return { keyHash, session, ...named, want, cell: otherCellOf(key) };
    });
    try {
      const answer = await client.admit({ queries: messages }, { timeoutMs: TIMEOUT_MS });
      if (this.#pausedUntil !== undefined) logger.info("the accounts service answers again");
      this.#pausedUntil = undefined;
      return answer;
    } catch (err) {
      if (this.#pausedUntil === undefined)
        logger.warn(
          { err },
          "the accounts service does not answer; until it does, the gateway checks API keys against the answers that it remembers",
        );
      this.#pausedUntil = now() + PAUSE_MS;
      return undefined;
    }
  }
}
