import type { Client } from "@connectrpc/connect";
import type { AdmissionService } from "@postrider/contracts/accounts/v1/admission_service_pb";
import { isId } from "@postrider/shared/ids";
import { hashApiKey, isApiKey } from "@postrider/shared/secrets/api-keys";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createAddressBudgets } from "#src/clients/admission/address-budgets.ts";
import {
  AdmitBatches,
  type AdmitOutcome,
  type Question,
  type SentQuestion,
} from "#src/clients/admission/admit-batches.ts";
import { createAnswers } from "#src/clients/admission/answers.ts";
import { createKeyRecords, type KeyRecord } from "#src/clients/admission/key-records.ts";
import { createOutage, type Outage } from "#src/clients/admission/outage.ts";
import {
  takePrepaid,
  type AdmissionSource,
  type WorkspaceBudget,
} from "#src/clients/admission/workspace-budget.ts";
import type { AdmissionResult } from "#src/domain/admission.ts";

/** How often what is over is forgotten and unspent grants are looked for. */
const SWEEP_MS = 500;
/** No workspace has it. Stands for names that are no ids, so that they share one record. */
const NIL = "00000000-0000-0000-0000-000000000000";

interface AdmissionRequest {
  /** As it was sent; undefined = none. */
  readonly key: string | undefined;
  /** As it was named; undefined = none. */
  readonly workspaceId: string | undefined;
  /** The remote address. */
  readonly address: string;
}

/** Decides who a request is and whether its workspace may still make it. Disposing gives back what is not spent. */
export interface Admission extends AsyncDisposable {
  /** Counts the request. At once when what is known suffices, otherwise after one batched call to accounts. */
  admit(request: AdmissionRequest): Promise<AdmissionResult> | AdmissionResult;
}

interface AdmissionOptions {
  readonly client: Pick<Client<typeof AdmissionService>, "admit">;
  /** Milliseconds since 1970 that never go back. */
  readonly now?: () => number;
  readonly logger: Logger;
}

interface Waiter {
  readonly address: string;
  readonly resolve: (result: AdmissionResult) => void;
}

/** Granted requests that were at hand when the question was sent, and keep waiting requests from asking for more. */
interface Reserved {
  readonly budget: WorkspaceBudget | undefined;
  readonly count: number;
  /** Asked for on top, to repay what an outage has let through. */
  readonly debt: number;
}

function monotonicNow(): number {
  return performance.timeOrigin + performance.now();
}

type Sent = SentQuestion<Waiter, Reserved>;

class BatchedAdmission implements Admission {
  readonly #now: () => number;
  readonly #records = createKeyRecords();
  readonly #addresses = createAddressBudgets();
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
      prepare: (question) => this.#prepare(question),
      settle: (...batch) => this.#settle(...batch),
    });
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#timer.unref();
  }

  admit(request: AdmissionRequest): Promise<AdmissionResult> | AdmissionResult {
    const { key, workspaceId, address } = request;
    const time = this.#now();
    if (key === undefined) return this.#answers.refuse(address, time);
    const named = workspaceId === undefined || isId(workspaceId) ? workspaceId : NIL;
    const slot = named === undefined ? key : `${key} ${named}`;
    const record = this.#records.find(slot);
    if (record === undefined) return this.#admitNew({ slot, key, workspaceId: named }, address);
    const isFresh = time < record.freshUntil;
    const result = isFresh ? this.#answers.known(record, address, time) : undefined;
    return result ?? this.#ask(record.source, record, address);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    // What is still under way may be granted more than it needs.
    await this.#batches.drain();
    this.#giveBackUnspent(true);
    await this.#batches.drain();
  }

  #admitNew(asked: Omit<AdmissionSource, "keyHash">, address: string) {
    const time = this.#now();
    if (!isApiKey(asked.key) || this.#records.isUnknown(asked.key, time))
      return this.#answers.refuse(address, time);
    return this.#ask({ ...asked, keyHash: hashApiKey(asked.key) }, undefined, address);
  }

  #ask(source: AdmissionSource, record: KeyRecord | undefined, address: string) {
    const time = this.#now();
    if (!this.#isClosed && this.#outage.mayAsk(time)) {
      const { promise, resolve } = Promise.withResolvers<AdmissionResult>();
      if (this.#batches.ask(source, { address, resolve })) return promise;
    }
    return this.#answers.offline(record, address, time);
  }

  #prepare({ source, waiters }: Question<Waiter>): { want: number; prepared: Reserved } {
    const budget = this.#records.find(source.slot)?.workspace?.budget;
    if (budget === undefined || waiters.length === 0)
      return { want: waiters.length, prepared: { budget: undefined, count: 0, debt: 0 } };
    const count = takePrepaid(budget, waiters.length);
    const { debt } = budget;
    return { want: waiters.length - count + debt, prepared: { budget, count, debt } };
  }

  #settle(sent: readonly Sent[], outcome: AdmitOutcome, askedAt: number): void {
    const time = this.#now();
    if (outcome.isAnswered) this.#outage.end();
    else this.#outage.begin(outcome.error, time);
    for (const { budget, count } of sent.map((it) => it.prepared))
      if (budget !== undefined) budget.prepaid += count;
    // All grants of a batch first: questions about one workspace share what it got.
    const learnt = sent.map(({ question: { source }, want, prepared: { debt } }, index) => {
      const grant = outcome.isAnswered ? outcome.grants[index] : undefined;
      // Where there is more to be had, a debt that has grown meanwhile waits for it: it refuses nobody.
      const isShort = grant === undefined || grant.remaining === 0;
      const kept = debt > 0 && isShort ? 0 : want - debt;
      return grant && { record: this.#records.learn({ source, askedAt, kept }, grant, time) };
    });
    sent.forEach(({ question: { source, waiters } }, index) => {
      const answer = learnt[index];
      for (const { address, resolve } of waiters)
        resolve(
          answer === undefined
            ? this.#answers.offline(this.#records.find(source.slot), address, time)
            : this.#answers.final(answer.record, address, time),
        );
    });
  }

  #sweep(): void {
    const time = this.#now();
    this.#giveBackUnspent(false);
    this.#records.sweep(time);
    this.#addresses.sweep(time);
  }

  #giveBackUnspent(all: boolean): void {
    for (const { source, count } of this.#records.takeUnspent(this.#now(), all))
      this.#batches.giveBack(source, count);
  }
}

/** Keeps what accounts answered for 3 s, spends what it granted, and asks in batches for the rest. */
export function createAdmission(options: AdmissionOptions): Admission {
  return new BatchedAdmission(options);
}
