import type { Client } from "@connectrpc/connect";
import type {
  AdmissionService,
  AdmitResponse,
} from "@postrider/contracts/accounts/v1/admission_service_pb";
import type { Cells } from "@postrider/shared/config/cells";
import { isId, NIL_ID } from "@postrider/shared/ids";
import { BoundedMap } from "@postrider/shared/limits/bounded-map";
import { hashApiKey, isCredential } from "@postrider/shared/secrets/api-keys";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { admitted, type AdmissionResult, limited } from "#src/admission/admission-result.ts";
import { KeyLookUps, type LookUpWaiter } from "#src/admission/key-look-ups.ts";
import {
  FRESH_MS,
  type KnownKey,
  KnownKeys,
  USABLE_MS,
  workspaceOf,
} from "#src/admission/known-keys.ts";
import { CellKeys, findOtherCell } from "#src/admission/other-cell.ts";
import { Refusals } from "#src/admission/refusals.ts";
import { WorkspaceBudget } from "#src/admission/workspace-budget.ts";
import {
  AdmitBatches,
  type AdmissionQuery,
  type AdmissionSource,
  type Wanting,
} from "#src/clients/admit-batches.ts";

const SWEEP_MS = 500;
const MAX_WORKSPACES = 10_000;
/** After this time without a query the whole limit of a workspace is free again. */
const BUDGET_IDLE_MS = 60_000;

interface AdmissionRequest {
  readonly key: string | undefined;
  readonly workspaceId: string | undefined;
  readonly address: string;
}

interface AdmittedRequest extends AdmissionRequest {
  readonly key: string;
  readonly workspaceId: string;
}

export interface Admission extends AsyncDisposable {
  admit(request: AdmissionRequest): Promise<AdmissionResult> | AdmissionResult;
  /**
   * Whether the key of a request that was admitted is no longer valid for the workspace. Takes
   * nothing from a limit. While the accounts service does not answer, false.
   */
  hasEnded(request: AdmittedRequest): Promise<boolean>;
}

interface AdmissionOptions {
  readonly client: Pick<Client<typeof AdmissionService>, "admit">;
  /** Returns milliseconds since 1970 that never go back. */
  readonly now?: () => number;
  readonly logger: Logger;
  readonly cells: Cells;
}

interface Waiter extends LookUpWaiter, Wanting {
  readonly resolve: (result: AdmissionResult | Promise<AdmissionResult>) => void;
}

const UNAVAILABLE: AdmissionResult = { kind: "unavailable", retryAfterSeconds: 1 };

function monotonicNow(): number {
  return performance.timeOrigin + performance.now();
}

class BatchedAdmission implements Admission {
  readonly #now: () => number;
  readonly #keys = new KnownKeys();
  readonly #cellKeys: CellKeys;
  readonly #refusals: Refusals;
  readonly #budgets = new BoundedMap<string, WorkspaceBudget>(MAX_WORKSPACES);
  readonly #lookUps = new KeyLookUps();
  readonly #batches: AdmitBatches<Waiter>;
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  constructor({ client, now = monotonicNow, logger, cells }: AdmissionOptions) {
    this.#now = now;
    this.#cellKeys = new CellKeys(cells);
    this.#refusals = new Refusals(cells);
    this.#batches = new AdmitBatches({
      client,
      now,
      logger,
      otherCellOf: (key) => findOtherCell(key, cells)?.cell ?? "",
      owedFor: (source) => this.#budgetOf(source)?.owed ?? 0,
      settle: (...call) => this.#settle(...call),
    });
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#timer.unref();
  }

  admit({ key, workspaceId, address }: AdmissionRequest) {
    const now = this.#now();
    if (key === undefined) return this.#refusals.ofKey(key, address, now);
    // Requests with different malformed ids share one query to the accounts service.
    const named = workspaceId === undefined || isId(workspaceId) ? workspaceId : NIL_ID;
    const known = this.#keys.find(key);
    if (known !== undefined) {
      const source = { key, keyHash: known.hash, workspaceId: named };
      const result = this.#fromStock(known, source, address, now);
      return result ?? this.#askAccounts(source, address, now);
    }
    if (!isCredential(key) || this.#keys.isUnknown(key, now) || this.#cellKeys.isStrange(key, now))
      return this.#refusals.ofKey(key, address, now);
    const source = { key, keyHash: hashApiKey(key), workspaceId: named };
    const refusal = this.#lookUps.refusalOf(source, address, now);
    return refusal ?? this.#askAccounts(source, address, now);
  }

  async hasEnded({ key, workspaceId, address }: AdmittedRequest): Promise<boolean> {
    const now = this.#now();
    const known = this.#keys.find(key);
    if (known === undefined && this.#keys.isUnknown(key, now)) return true;
    if (now >= (known?.freshUntil ?? 0) && !this.#isClosed && this.#batches.isOpen(now))
      await this.#ask({ key, keyHash: hashApiKey(key), workspaceId }, address, now, 0);
    const current = this.#keys.find(key);
    if (current === undefined) return this.#keys.isUnknown(key, this.#now());
    return !current.workspaceIds.has(workspaceId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#batches.drain();
  }

  /** Decides by fresh answers; undefined if the accounts service must be asked. */
  #fromStock(known: KnownKey, source: AdmissionSource, address: string, now: number) {
    if (now >= known.freshUntil) return undefined;
    const budget = this.#usableBudget(known, source, address, now, FRESH_MS);
    if (!(budget instanceof WorkspaceBudget)) return budget;
    // That a workspace is not verified is asked each time: the operator who verifies it is told at
    // once that it may write posts, so its next request must find that.
    if (budget.verified && budget.takeFromStock(now)) return admitted(known, budget, now);
    return budget.isEmpty(now) ? limited(budget, now) : undefined;
  }

  #askAccounts(source: AdmissionSource, address: string, now: number) {
    if (this.#isClosed || !this.#batches.isOpen(now))
      return this.#withoutAccounts(source, address, now);
    return this.#ask(source, address, now, 1);
  }

  #ask(source: AdmissionSource, address: string, now: number, want: 0 | 1) {
    const { promise, resolve } = Promise.withResolvers<AdmissionResult>();
    const isKnown = this.#keys.find(source.key) !== undefined;
    const lookUp = isKnown ? "recognised" : this.#lookUps.begin(source, address, now);
    this.#batches.enqueue(source, { address, lookUp, want, resolve }, now);
    return promise;
  }

  /** Decides by older answers while the accounts service does not answer. */
  #withoutAccounts(source: AdmissionSource, address: string, now: number): AdmissionResult {
    const known = this.#keys.find(source.key);
    if (known === undefined || now >= known.usableUntil) return UNAVAILABLE;
    const budget = this.#usableBudget(known, source, address, now, USABLE_MS);
    if (!(budget instanceof WorkspaceBudget)) return budget ?? UNAVAILABLE;
    if (budget.takeFromStock(now) || budget.takeOnCredit()) return admitted(known, budget, now);
    return UNAVAILABLE;
  }

  #settle(
    queries: readonly AdmissionQuery<Waiter>[],
    answer: AdmitResponse | undefined,
    askedAt: number,
  ): void {
    const now = this.#now();
    const budgets = (answer?.workspaces ?? []).map((grant) => {
      const budget = this.#budgets.get(grant.id) ?? new WorkspaceBudget(grant.id);
      budget.receive(grant, askedAt, now);
      this.#budgets.set(grant.id, budget);
      return budget;
    });
    queries.forEach(({ source, waiters }, index) => {
      const key = answer?.answers[index]?.key;
      const isUnknown = answer !== undefined && key === undefined;
      if (answer !== undefined) this.#keys.store(source, key, askedAt);
      if (isUnknown) this.#cellKeys.note(source.key, answer, askedAt);
      if (key !== undefined) this.#lookUps.noteValid(source.keyHash, now);
      for (const waiter of waiters) {
        this.#lookUps.end(source, waiter, isUnknown && waiter.want > 0, now);
        waiter.resolve(this.#decide(source, waiter, answer !== undefined, now));
      }
    });
    for (const budget of budgets) budget.keepArrived(now);
  }

  #decide(source: AdmissionSource, { address, want }: Waiter, isAnswered: boolean, now: number) {
    if (want === 0) return UNAVAILABLE;
    return isAnswered
      ? this.#fromAnswer(source, address, now)
      : this.#withoutAccounts(source, address, now);
  }

  /** Decides about a request that waited for the answer that has just arrived. */
  #fromAnswer(source: AdmissionSource, address: string, now: number) {
    const known = this.#keys.find(source.key);
    if (known === undefined) return this.#refusals.ofKey(source.key, address, now);
    const budget = this.#usableBudget(known, source, address, now, Infinity);
    if (!(budget instanceof WorkspaceBudget)) return budget ?? UNAVAILABLE;
    if (budget.takeArrived() || budget.takeFromStock(now)) return admitted(known, budget, now);
    if (budget.isEmpty(now)) return limited(budget, now);
    // What arrived made up for requests on credit, and the accounts service has more.
    return this.#askAccounts(source, address, now);
  }

  /**
   * The budget from which the request may take; a refusal if its key may not use the workspace, or
   * the workspace is not here; undefined if the newest answer about it is too old.
   */
  #usableBudget(
    known: KnownKey,
    source: AdmissionSource,
    address: string,
    now: number,
    maxAgeMs: number,
  ): WorkspaceBudget | AdmissionResult | undefined {
    const id = workspaceOf(known, source.workspaceId);
    if (id === undefined) return this.#refusals.ofWorkspace(known, source, address, now);
    const budget = this.#budgets.get(id);
    if (budget === undefined || now >= budget.askedAt + maxAgeMs) return undefined;
    return this.#refusals.ofElsewhere(budget, address, now) ?? budget;
  }

  #budgetOf({ key, workspaceId }: AdmissionSource): WorkspaceBudget | undefined {
    const known = this.#keys.find(key);
    const id = known && workspaceOf(known, workspaceId);
    return id === undefined ? undefined : this.#budgets.get(id);
  }

  #sweep(): void {
    const now = this.#now();
    this.#keys.sweep(now);
    this.#budgets.deleteOldestWhile(({ askedAt }) => askedAt + BUDGET_IDLE_MS <= now);
    this.#refusals.sweep(now);
    this.#lookUps.sweep(now);
  }
}

export function createAdmission(options: AdmissionOptions): Admission {
  return new BatchedAdmission(options);
}
