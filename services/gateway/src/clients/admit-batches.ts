import { AsyncLocalStorage } from "node:async_hooks";
import type { Client } from "@connectrpc/connect";
import type {
  AdmissionGrant,
  AdmissionService,
} from "@postrider/contracts/accounts/v1/admission_service_pb";

/** How long an admission query waits for further queries to share its call to the accounts service. */
const BATCH_WINDOW_MS = 2;
/** Maximum number of admission queries per call to the accounts service. */
const MAX_QUERIES = 500;
const MAX_CALLS_IN_FLIGHT = 4;
/**
 * Maximum number of requests that wait for an admission answer. Further requests are refused, because their answer
 * would come too late.
 */
const MAX_WAITING = 10_000;
/**
 * Timeout of an admission call. If the accounts service does not answer in this time, the gateway decides about the
 * requests without it.
 */
const TIMEOUT_MS = 1_000;

/** A pair of API key and workspace, for which the accounts service grants requests. */
export interface AdmissionSource {
  /** Identifies the pair of API key and workspace within this process. */
  readonly pairId: string;
  readonly key: string;
  /** SHA-256 of the API key. */
  readonly keyHash: Uint8Array;
  /** The workspace that the request names; undefined when the request names none. */
  readonly workspaceId: string | undefined;
}

/** An admission query about one pair of API key and workspace, and the requests that wait for its answer. */
export interface PendingQuery<Waiter> {
  readonly source: AdmissionSource;
  readonly waiters: Waiter[];
  giveBack: number;
}

/** An admission query in flight, and what is reserved for its waiting requests until the accounts service answers. */
export interface SentQuery<Waiter, Prepared> {
  readonly query: PendingQuery<Waiter>;
  readonly want: number;
  readonly prepared: Prepared;
}

/** Outcome of an admission call: the grants in the order of the queries, or why the call failed. */
export type AdmitOutcome =
  | { readonly isAnswered: true; readonly grants: readonly AdmissionGrant[] }
  | { readonly isAnswered: false; readonly error: unknown };

interface AdmitBatchesOptions<Waiter, Prepared> {
  readonly client: Pick<Client<typeof AdmissionService>, "admit">;
  /**
   * Called for each admission query right before it is sent. Returns how many requests to ask the accounts service for,
   * and what to reserve until the service answers.
   */
  readonly prepare: (query: PendingQuery<Waiter>) => {
    readonly want: number;
    readonly prepared: Prepared;
  };
  /** Called exactly once per admission call, when the call has been answered or has failed. */
  readonly settle: (
    sent: readonly SentQuery<Waiter, Prepared>[],
    outcome: AdmitOutcome,
    sentAt: number,
  ) => void;
  readonly now: () => number;
}

function toMessage({ query, want }: SentQuery<unknown, unknown>) {
  const { keyHash, workspaceId } = query.source;
  const named = workspaceId === undefined ? {} : { workspaceId };
  return { keyHash, ...named, want, giveBack: query.giveBack };
}

/**
 * Collects admission queries for a short window, one query per pair of API key and workspace, and sends them to the
 * accounts service in one call.
 */
export class AdmitBatches<Waiter, Prepared> {
  readonly #options: AdmitBatchesOptions<Waiter, Prepared>;
  readonly #pending = new Map<string, PendingQuery<Waiter>>();
  readonly #inFlight = new Set<Promise<void>>();
  // An admission call serves many requests, so it carries neither the id nor the deadline of any of them.
  readonly #outsideRequests = AsyncLocalStorage.snapshot();
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AdmitBatchesOptions<Waiter, Prepared>) {
    this.#options = options;
  }

  /** Adds a waiting request to the next admission call. Returns false when too many requests already wait. */
  enqueue(source: AdmissionSource, waiter: Waiter): boolean {
    if (this.#waiting >= MAX_WAITING) return false;
    this.#waiting += 1;
    this.#queryOf(source).waiters.push(waiter);
    this.#schedule();
    return true;
  }

  /** Returns granted but unused requests to the accounts service. */
  giveBack(source: AdmissionSource, count: number): void {
    this.#queryOf(source).giveBack += count;
    this.#schedule();
  }

  /** Sends the pending admission queries and resolves when every admission call has ended. */
  async drain(): Promise<void> {
    while (this.#pending.size > 0 || this.#inFlight.size > 0) {
      this.#flush();
      await Promise.all(this.#inFlight);
    }
  }

  #queryOf(source: AdmissionSource): PendingQuery<Waiter> {
    const present = this.#pending.get(source.pairId);
    if (present !== undefined) return present;
    const query = { source, waiters: [], giveBack: 0 };
    this.#pending.set(source.pairId, query);
    return query;
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
      for (const { source } of queries) this.#pending.delete(source.pairId);
      const call = this.#send(queries).finally(() => {
        this.#inFlight.delete(call);
        this.#schedule();
      });
      this.#inFlight.add(call);
    }
  }

  async #send(queries: readonly PendingQuery<Waiter>[]): Promise<void> {
    const { prepare, settle, now } = this.#options;
    const sent = queries.map((query) => ({ query, ...prepare(query) }));
    const sentAt = now();
    const outcome = await this.#call(sent.map(toMessage));
    for (const { waiters } of queries) this.#waiting -= waiters.length;
    settle(sent, outcome, sentAt);
  }

  async #call(queries: ReturnType<typeof toMessage>[]): Promise<AdmitOutcome> {
    try {
      const { grants } = await this.#options.client.admit({ queries }, { timeoutMs: TIMEOUT_MS });
      return { isAnswered: true, grants };
    } catch (error) {
      return { isAnswered: false, error };
    }
  }
}
