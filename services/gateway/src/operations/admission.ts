import type { Client } from "@connectrpc/connect";
import type { AdmissionService } from "@postrider/contracts/accounts/v1/admission_service_pb";
import { isId, NIL_ID } from "@postrider/shared/ids";
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
import { createKeyLookUps, type LookUpWaiter } from "#src/operations/admission/key-look-ups.ts";
import { createKeyRecords, type KeyRecord } from "#src/operations/admission/key-records.ts";
import { createOutage, type Outage } from "#src/operations/admission/outage.ts";
import { takePrepaid, type WorkspaceBudget } from "#src/operations/admission/workspace-budget.ts";

/**
 * Interval at which expired records of API keys are deleted and unused granted requests are returned to the accounts
 * service.
 */
const SWEEP_MS = 500;

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
   * Decides whether a request is admitted, and counts it. Uses stored answers of the accounts service if they suffice;
   * otherwise asks the service, together with other waiting requests.
   */
  admit(request: AdmissionRequest): Promise<AdmissionResult> | AdmissionResult;
}

interface AdmissionOptions {
  readonly client: Pick<Client<typeof AdmissionService>, "admit">;
  /** Clock of the gateway's admission: returns milliseconds since 1970 that never go back. */
  readonly now?: () => number;
  readonly logger: Logger;
}

interface Waiter extends LookUpWaiter {
  readonly resolve: (result: AdmissionResult) => void;
}

/**
 * Granted API requests that are set aside for waiting requests until the accounts service answers the query about the
 * API key of these requests.
 */
interface Reserved {
  readonly budget: WorkspaceBudget | undefined;
  readonly count: number;
  /**
   * Number of additional API requests to ask the accounts service for, to make up for the requests that the gateway
   * admitted during an outage of the service.
   */
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
  readonly #lookUps = createKeyLookUps();
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
    // Requests with different malformed ids share one query to the accounts service.
    const named = workspaceId === undefined || isId(workspaceId) ? workspaceId : NIL_ID;
    const record = this.#records.find(key, named);
    if (record === undefined) return this.#admitNewPair({ key, workspaceId: named }, address);
    const isFresh = time < record.freshUntil;
    const result = isFresh ? this.#answers.fromRecord(record, address, time) : undefined;
    return result ?? this.#askAccounts(record.source, record, address);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    // The calls in flight may still grant API requests. Those that remain unused are returned to the accounts service
    // as well.
    await this.#batches.drain();
    this.#giveBackUnused(true);
    await this.#batches.drain();
  }

  #admitNewPair(pair: Omit<AdmissionSource, "keyHash">, address: string) {
    const time = this.#now();
    if (!isApiKey(pair.key) || this.#records.isUnknown(pair.key, time))
      return this.#answers.refuse(address, time);
    const source = { ...pair, keyHash: hashApiKey(pair.key) };
    const refusal = this.#lookUps.refusalOf(source, address, time);
    return refusal ?? this.#askAccounts(source, undefined, address);
  }

  #askAccounts(source: AdmissionSource, record: KeyRecord | undefined, address: string) {
    const time = this.#now();
    if (!this.#isClosed && this.#outage.mayCall(time)) {
      const { promise, resolve } = Promise.withResolvers<AdmissionResult>();
      const lookUp =
        record === undefined ? this.#lookUps.begin(source, address, time) : "recognised";
      const waiter = { address, lookUp, resolve };
      if (this.#batches.enqueue(source, waiter)) return promise;
      this.#lookUps.end(source, waiter, false, time);
    }
    return this.#answers.duringOutage(record, address, time);
  }

  #prepare({ source, waiters }: PendingQuery<Waiter>): { want: number; prepared: Reserved } {
    const budget = this.#find(source)?.workspace?.budget;
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
    // The gateway stores all answers of the call before it answers the first waiting request, because several API keys
    // of a workspace share the granted requests.
    const stored = sent.map(({ query: { source }, want, prepared: { debt } }, index) => {
      const grant = outcome.isAnswered ? outcome.grants[index] : undefined;
      // When the accounts service has no request left for the workspace, the requests that were admitted during an
      // outage are deducted later. Deducting them now would take granted requests from the requests that wait for
      // admission.
      const isShort = grant === undefined || grant.remaining === 0;
      const kept = debt > 0 && isShort ? 0 : want - debt;
      return grant && { record: this.#records.store({ source, sentAt, kept }, grant, time) };
    });
    sent.forEach(({ query }, index) => {
      const { source, waiters } = query;
      const answer = stored[index];
      for (const { address, resolve } of waiters)
        resolve(
          answer === undefined
            ? this.#answers.duringOutage(this.#find(source), address, time)
            : this.#answers.fromGrant(answer.record, address, time),
        );
      this.#endLookUps(query, answer, time);
    });
  }

  #find({ key, workspaceId }: AdmissionSource): KeyRecord | undefined {
    return this.#records.find(key, workspaceId);
  }

  /** @param answer Undefined if the accounts service did not answer. */
  #endLookUps(
    { source, waiters }: PendingQuery<Waiter>,
    answer: { readonly record: KeyRecord | undefined } | undefined,
    time: number,
  ): void {
    if (answer?.record !== undefined) this.#lookUps.noteValid(source.keyHash, time);
    const isUnknown = answer !== undefined && answer.record === undefined;
    for (const waiter of waiters) this.#lookUps.end(source, waiter, isUnknown, time);
  }

  #sweep(): void {
    const time = this.#now();
    this.#giveBackUnused(false);
    this.#records.sweep(time);
    this.#addresses.sweep(time);
    this.#lookUps.sweep(time);
  }

  #giveBackUnused(all: boolean): void {
    for (const { source, count } of this.#records.takeUnused(this.#now(), all))
      this.#batches.giveBack(source, count);
  }
}

/**
 * Creates the component that decides whether API requests are admitted. It stores the answers of the accounts service
 * for up to 3 s, uses the requests that the service granted in advance, and asks for more in batches.
 */
export function createAdmission(options: AdmissionOptions): Admission {
  return new BatchedAdmission(options);
}
