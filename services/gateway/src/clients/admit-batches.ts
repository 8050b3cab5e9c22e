import { AsyncLocalStorage } from "node:async_hooks";
import type { Client } from "@connectrpc/connect";
import type {
  AdmissionGrant,
  AdmissionService,
} from "@postrider/contracts/accounts/v1/admission_service_pb";

/**
 * How long the gateway collects API requests before it asks the accounts service, in one call, whether to admit them.
 */
const BATCH_WINDOW_MS = 2;
/**
 * Maximum number of pairs of API key and workspace that one call to the accounts service checks. Further pairs are
 * checked by another call.
 */
const MAX_QUERIES = 500;
const MAX_CALLS_IN_FLIGHT = 4;
/**
 * Maximum number of API requests that wait for the accounts service to admit them. The gateway decides about further
 * requests without this service, because its answer to them would come too late.
 */
const MAX_WAITING = 10_000;
/**
 * Timeout of the call that asks the accounts service whether to admit API requests. When it has passed, the gateway
 * decides about these requests without the accounts service.
 */
const TIMEOUT_MS = 1_000;

/**
 * An API key and the workspace that it is used for. For each such pair the accounts service grants a number of API
 * requests in advance.
 */
export interface AdmissionSource {
  readonly key: string;
  /** SHA-256 of the API key. */
  readonly keyHash: Uint8Array;
  /** The workspace that the request names; undefined when the request names none. */
  readonly workspaceId: string | undefined;
}

/**
 * A query to the accounts service that is not sent yet: is this API key valid for this workspace? `waiters` are the API
 * requests that wait for the answer.
 */
export interface PendingQuery<Waiter> {
  readonly source: AdmissionSource;
  readonly waiters: Waiter[];
  giveBack: number;
}

/**
 * A query about an API key that was sent to the accounts service. `prepared` contains the granted API requests that are
 * set aside, until the answer arrives, for the requests that wait for this answer.
 */
export interface SentQuery<Waiter, Prepared> {
  readonly query: PendingQuery<Waiter>;
  readonly want: number;
  readonly prepared: Prepared;
}

/**
 * Result of a call to the accounts service about several API keys: one grant per query in the order of the queries, or
 * the error of the call.
 */
export type AdmitOutcome =
  | { readonly isAnswered: true; readonly grants: readonly AdmissionGrant[] }
  | { readonly isAnswered: false; readonly error: unknown };

interface AdmitBatchesOptions<Waiter, Prepared> {
  readonly client: Pick<Client<typeof AdmissionService>, "admit">;
  /**
   * Called right before a query about an API key is sent to the accounts service. Returns `want`, the number of API
   * requests that the gateway asks for, and `prepared`, the granted API requests that are set aside, until the answer
   * arrives, for the requests that wait for this answer.
   */
  readonly prepare: (query: PendingQuery<Waiter>) => {
    readonly want: number;
    readonly prepared: Prepared;
  };
  /** Called exactly once per call to the accounts service, when the call has been answered or has failed. */
  readonly settle: (
    sent: readonly SentQuery<Waiter, Prepared>[],
    outcome: AdmitOutcome,
    sentAt: number,
  ) => void;
  readonly now: () => number;
}

/** Returns a text that identifies a pair of API key and workspace. */
function pairIdOf({ key, workspaceId }: AdmissionSource): string {
  return workspaceId === undefined ? key : `${key} ${workspaceId}`;
}

function toMessage({ query, want }: SentQuery<unknown, unknown>) {
  const { keyHash, workspaceId } = query.source;
  const named = workspaceId === undefined ? {} : { workspaceId };
  return { keyHash, ...named, want, giveBack: query.giveBack };
}

/**
 * Collects queries about API keys for a short time, at most one per pair of API key and workspace, and sends them to
 * the accounts service in one call.
 */
export class AdmitBatches<Waiter, Prepared> {
  readonly #options: AdmitBatchesOptions<Waiter, Prepared>;
  readonly #pending = new Map<string, PendingQuery<Waiter>>();
  readonly #inFlight = new Set<Promise<void>>();
  // A call to the accounts service about API keys serves many API requests, so it carries neither the request id nor
  // the deadline of any of them.
  readonly #outsideRequests = AsyncLocalStorage.snapshot();
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AdmitBatchesOptions<Waiter, Prepared>) {
    this.#options = options;
  }

  /**
   * Adds an API request to the next call that asks the accounts service about API keys. Returns false when too many API
   * requests already wait.
   */
  enqueue(source: AdmissionSource, waiter: Waiter): boolean {
    if (this.#waiting >= MAX_WAITING) return false;
    this.#waiting += 1;
    this.#queryOf(source).waiters.push(waiter);
    this.#schedule();
    return true;
  }

  /** Tells the accounts service, with the next call, how many granted API requests were not used. */
  giveBack(source: AdmissionSource, count: number): void {
    this.#queryOf(source).giveBack += count;
    this.#schedule();
  }

  /** Sends the pending queries to the accounts service and resolves when every call has ended. */
  async drain(): Promise<void> {
    while (this.#pending.size > 0 || this.#inFlight.size > 0) {
      this.#flush();
      await Promise.all(this.#inFlight);
    }
  }

  #queryOf(source: AdmissionSource): PendingQuery<Waiter> {
    const pairId = pairIdOf(source);
    const present = this.#pending.get(pairId);
    if (present !== undefined) return present;
    const query = { source, waiters: [], giveBack: 0 };
    this.#pending.set(pairId, query);
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
      for (const { source } of queries) this.#pending.delete(pairIdOf(source));
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
