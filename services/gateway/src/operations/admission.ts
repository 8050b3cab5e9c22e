import type { Client } from "@connectrpc/connect";
import type { AdmissionService } from "@postrider/contracts/accounts/v1/admission_service_pb";
import { isId } from "@postrider/shared/ids";
import { hashApiKey, isApiKey } from "@postrider/shared/secrets/api-keys";
import type { Logger } from "@postrider/shared/telemetry/logger";
import {
  type AdmissionSource,
  AdmitBatches,
  type AdmitOutcome,
  type PendingQuery,
  type SentQuery,
} from "#src/clients/admit-batches.ts";
import { createAddressLimits } from "#src/operations/admission/address-limits.ts";
import type { AdmissionResult } from "#src/operations/admission/admission-result.ts";
import { createAnswers } from "#src/operations/admission/answers.ts";
import { createKeyRecords, type KeyRecord } from "#src/operations/admission/key-records.ts";
import { createOutage, type Outage } from "#src/operations/admission/outage.ts";
import { takePrepaid, type WorkspaceBudget } from "#src/operations/admission/workspace-budget.ts";

/** Interval at which expired admission records are deleted and unused grants are returned to the accounts service. */
const SWEEP_MS = 500;
/**
 * Replaces workspace ids that are not UUIDs, so that all of them share one admission record. No workspace has this id.
 */
const NIL_ID = "00000000-0000-0000-0000-000000000000";

interface AdmissionRequest {
  /** The API key as the client sent it; undefined when the client sent none. */
  readonly key: string | undefined;
  /** The workspace id as the client sent it; undefined when the client sent none. */
  readonly workspaceId: string | undefined;
  /** The remote address of the client. */
  readonly address: string;
}

/**
 * Authenticates requests and applies the rate limit of their workspace. Disposing returns unused grants to the accounts
 * service.
 */
export interface Admission extends AsyncDisposable {
  /**
   * Decides whether a request is admitted, and counts the request. Uses stored answers of the accounts service if they
   * suffice, otherwise makes one batched call to the accounts service.
   */
  admit(request: AdmissionRequest): Promise<AdmissionResult> | AdmissionResult;
}

interface AdmissionOptions {
  readonly client: Pick<Client<typeof AdmissionService>, "admit">;
  /** Clock for admissions: returns milliseconds since 1970 that never go back. */
  readonly now?: () => number;
  readonly logger: Logger;
}

interface Waiter {
  readonly address: string;
  readonly resolve: (result: AdmissionResult) => void;
}

/** Granted requests that are reserved for the waiting requests of an admission query until the query is answered. */
interface Reserved {
  readonly budget: WorkspaceBudget | undefined;
  readonly count: number;
  /** Number of additional requests to ask for, to repay the requests that were admitted during an outage. */
  readonly debt: number;
}

function monotonicNow(): number {
  return performance.timeOrigin + performance.now();
}

class BatchedAdmission implements Admission {
  readonly #now: () => number;
  readonly #records = createKeyRecords();
  readonly #addresses = createAddressLimits();
  readonly #answers = createAnswers(this.#addresses);
  readonly #outage: Outage;
  readonly #batches: AdmitBatches<Waiter, Reserved>;
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  constructor({ client, now = monotonicNow, logger }: AdmissionOptions) {
    this.#now = now;
    this.#outage = createOutage(logger);
    this.#batches = new AdmitBatches({
      client,
      now,
      prepare: (query) => this.#prepare(query),
      settle: (...batch) => this.#settle(...batch),
    });
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#timer.unref();
  }

  admit(request: AdmissionRequest): Promise<AdmissionResult> | AdmissionResult {
    const { key, workspaceId, address } = request;
    const time = this.#now();
    if (key === undefined) return this.#answers.refuse(address, time);
    const named = workspaceId === undefined || isId(workspaceId) ? workspaceId : NIL_ID;
    const pairId = named === undefined ? key : `${key} ${named}`;
    const record = this.#records.find(pairId);
    if (record === undefined)
      return this.#admitNewPair({ pairId, key, workspaceId: named }, address);
    const isFresh = time < record.freshUntil;
    const result = isFresh ? this.#answers.fromRecord(record, address, time) : undefined;
    return result ?? this.#askAccounts(record.source, record, address);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    // Admission calls in flight may still grant more requests than are used.
    await this.#batches.drain();
    this.#giveBackUnused(true);
    await this.#batches.drain();
  }

  #admitNewPair(pair: Omit<AdmissionSource, "keyHash">, address: string) {
    const time = this.#now();
    if (!isApiKey(pair.key) || this.#records.isUnknown(pair.key, time))
      return this.#answers.refuse(address, time);
    return this.#askAccounts({ ...pair, keyHash: hashApiKey(pair.key) }, undefined, address);
  }

  #askAccounts(source: AdmissionSource, record: KeyRecord | undefined, address: string) {
    const time = this.#now();
    if (!this.#isClosed && this.#outage.mayCall(time)) {
      const { promise, resolve } = Promise.withResolvers<AdmissionResult>();
      if (this.#batches.enqueue(source, { address, resolve })) return promise;
    }
    return this.#answers.duringOutage(record, address, time);
  }

  #prepare({ source, waiters }: PendingQuery<Waiter>): { want: number; prepared: Reserved } {
    const budget = this.#records.find(source.pairId)?.workspace?.budget;
    if (budget === undefined || waiters.length === 0)
      return { want: waiters.length, prepared: { budget: undefined, count: 0, debt: 0 } };
    const count = takePrepaid(budget, waiters.length);
    const { debt } = budget;
    return { want: waiters.length - count + debt, prepared: { budget, count, debt } };
  }

  #settle(
    sent: readonly SentQuery<Waiter, Reserved>[],
    outcome: AdmitOutcome,
    sentAt: number,
  ): void {
    const time = this.#now();
    if (outcome.isAnswered) this.#outage.end();
    else this.#outage.begin(outcome.error, time);
    for (const { budget, count } of sent.map((it) => it.prepared))
      if (budget !== undefined) budget.prepaid += count;
    // All grants are stored before the first waiting request is answered, because queries about one workspace share its
    // grants.
    const stored = sent.map(({ query: { source }, want, prepared: { debt } }, index) => {
      const grant = outcome.isAnswered ? outcome.grants[index] : undefined;
      // Debt of a workspace that grew during the call is repaid later if the accounts service has requests left for the
      // workspace, so that the repayment takes no grant from a waiting request.
      const isShort = grant === undefined || grant.remaining === 0;
      const kept = debt > 0 && isShort ? 0 : want - debt;
      return grant && { record: this.#records.store({ source, sentAt, kept }, grant, time) };
    });
    sent.forEach(({ query: { source, waiters } }, index) => {
      const answer = stored[index];
      for (const { address, resolve } of waiters)
        resolve(
          answer === undefined
            ? this.#answers.duringOutage(this.#records.find(source.pairId), address, time)
            : this.#answers.fromGrant(answer.record, address, time),
        );
    });
  }

  #sweep(): void {
    const time = this.#now();
    this.#giveBackUnused(false);
    this.#records.sweep(time);
    this.#addresses.sweep(time);
  }

  #giveBackUnused(all: boolean): void {
    for (const { source, count } of this.#records.takeUnused(this.#now(), all))
      this.#batches.giveBack(source, count);
  }
}

/**
 * Creates the admission of requests. It stores the answers of the accounts service for up to 3 s, uses the requests
 * that these answers grant, and asks for further requests in batches.
 */
export function createAdmission(options: AdmissionOptions): Admission {
  return new BatchedAdmission(options);
}
