import { AsyncLocalStorage } from "node:async_hooks";
import type { Client } from "@connectrpc/connect";
import type {
  AdmissionGrant,
  AdmissionService,
} from "@postrider/contracts/accounts/v1/admission_service_pb";
import type { AdmissionSource } from "#src/clients/admission/workspace-budget.ts";

/** Misses of so long a moment are asked about together. */
const TICK_MS = 2;
/** As many questions as one call may carry. */
const MAX_QUERIES = 500;
const MAX_IN_FLIGHT = 4;
/** More wait for nothing that could still come in time. */
const MAX_WAITING = 10_000;
/** An answer later than this is no use to a request: the local budgets take over. */
const TIMEOUT_MS = 1_000;

/** One pair of key and workspace, and the requests that wait for it. */
export interface Question<Waiter> {
  readonly source: AdmissionSource;
  readonly waiters: Waiter[];
  giveBack: number;
}

/** A question on its way, with what was set aside for it. */
export interface SentQuestion<Waiter, Prepared> {
  readonly question: Question<Waiter>;
  readonly want: number;
  readonly prepared: Prepared;
}

/** The answers in the questions' order, or why there are none. */
export type AdmitOutcome =
  | { readonly isAnswered: true; readonly grants: readonly AdmissionGrant[] }
  | { readonly isAnswered: false; readonly error: unknown };

interface AdmitBatchesOptions<Waiter, Prepared> {
  readonly client: Pick<Client<typeof AdmissionService>, "admit">;
  /** Called for every question right before it is sent: how much to ask for, and what to set aside until the answer. */
  readonly prepare: (question: Question<Waiter>) => {
    readonly want: number;
    readonly prepared: Prepared;
  };
  /** Called exactly once for every batch. */
  readonly settle: (
    sent: readonly SentQuestion<Waiter, Prepared>[],
    outcome: AdmitOutcome,
    askedAt: number,
  ) => void;
  readonly now: () => number;
}

function toQuery({ question, want }: SentQuestion<unknown, unknown>) {
  const { keyHash, workspaceId } = question.source;
  const named = workspaceId === undefined ? {} : { workspaceId };
  return { keyHash, ...named, want, giveBack: question.giveBack };
}

/** Gathers questions for a moment, one per pair of key and workspace, and asks accounts all of them at once. */
export class AdmitBatches<Waiter, Prepared> {
  readonly #options: AdmitBatchesOptions<Waiter, Prepared>;
  readonly #pending = new Map<string, Question<Waiter>>();
  readonly #inFlight = new Set<Promise<void>>();
  // A batch belongs to many requests: none of them lends it its id or its deadline.
  readonly #outside = AsyncLocalStorage.snapshot();
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AdmitBatchesOptions<Waiter, Prepared>) {
    this.#options = options;
  }

  /** False when too many wait already; the waiter is not taken then. */
  ask(source: AdmissionSource, waiter: Waiter): boolean {
    if (this.#waiting >= MAX_WAITING) return false;
    this.#waiting += 1;
    this.#questionOf(source).waiters.push(waiter);
    this.#arm();
    return true;
  }

  giveBack(source: AdmissionSource, count: number): void {
    this.#questionOf(source).giveBack += count;
    this.#arm();
  }

  /** Resolves when nothing waits and nothing is under way. */
  async drain(): Promise<void> {
    while (this.#pending.size > 0 || this.#inFlight.size > 0) {
      this.#flush();
      await Promise.all(this.#inFlight);
    }
  }

  #questionOf(source: AdmissionSource): Question<Waiter> {
    const present = this.#pending.get(source.slot);
    if (present !== undefined) return present;
    const question = { source, waiters: [], giveBack: 0 };
    this.#pending.set(source.slot, question);
    return question;
  }

  #arm(): void {
    const isBusy = this.#inFlight.size >= MAX_IN_FLIGHT;
    if (this.#timer !== undefined || this.#pending.size === 0 || isBusy) return;
    this.#timer = this.#outside(() => setTimeout(() => this.#flush(), TICK_MS));
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#pending.size > 0 && this.#inFlight.size < MAX_IN_FLIGHT) {
      const questions = [...this.#pending.values()].slice(0, MAX_QUERIES);
      for (const { source } of questions) this.#pending.delete(source.slot);
      const call = this.#send(questions).finally(() => {
        this.#inFlight.delete(call);
        this.#arm();
      });
      this.#inFlight.add(call);
    }
  }

  async #send(questions: readonly Question<Waiter>[]): Promise<void> {
    const { prepare, settle, now } = this.#options;
    const sent = questions.map((question) => ({ question, ...prepare(question) }));
    const askedAt = now();
    const outcome = await this.#outcomeOf(sent.map(toQuery));
    for (const { waiters } of questions) this.#waiting -= waiters.length;
    settle(sent, outcome, askedAt);
  }

  async #outcomeOf(queries: ReturnType<typeof toQuery>[]): Promise<AdmitOutcome> {
    try {
      const { grants } = await this.#options.client.admit({ queries }, { timeoutMs: TIMEOUT_MS });
      return { isAnswered: true, grants };
    } catch (error) {
      return { isAnswered: false, error };
    }
  }
}
