import { setTimeout as sleep } from "node:timers/promises";
import { appendEvents, causedBy } from "@postrider/shared/outbox";
import { isDamagedData, isInfrastructureError } from "@postrider/shared/postgres";
import { Batcher } from "@postrider/shared/process/batcher";
import { causeOf } from "@postrider/shared/telemetry/cause";
import { createCounter } from "@postrider/shared/telemetry/metrics";
import { NEVER_MARKED } from "#src/calls/call.ts";
import { decideInOrder } from "#src/calls/decide.ts";
import { withoutText } from "#src/domain/without-text.ts";
import { deletionUpdated } from "#src/events.ts";
import { holdAccounts } from "#src/publishing/db/account-gates.ts";
import { lockDeletions, updateDeletions } from "#src/publishing/db/deletions.ts";
import {
  DELETIONS,
  type DeletionEvent,
  type DeletionResult,
  type DeletionTask,
} from "#src/publishing/domain/deletion.ts";
import type { PublishingDeps } from "./dependencies.ts";

type RecorderDeps = Pick<PublishingDeps, "sql" | "logger" | "settings" | "random" | "onEvents">;

/** How one try of a claimed deletion task ended, with the data that is recorded about it. */
interface EndedTry {
  readonly task: DeletionTask;
  readonly result: DeletionResult;
}

/** How long results of deletions are collected before they are recorded in one transaction, in milliseconds. */
const WINDOW_MS = 2;
/** Maximum number of results of deletions per transaction. */
const MAX_EVENTS = 100;

/**
 * How many times the recorder tries to record each form of a deletion's result that the database or our code refuses: the
 * unchanged result, the result without the platform's text, and a failure.
 */
const TRIES_PER_FORM = 3;
/**
 * Wait in milliseconds before the refused result of a deletion is recorded again, because another transaction may have
 * caused the refusal.
 */
const PAUSE_MS = 50;
/** The result that is recorded for a deletion if the platform's answer cannot be recorded in any form. */
const NOT_RECORDED: DeletionResult = {
  kind: "given_up",
  code: "internal_error",
  message: "the result could not be recorded; the log of the delivery service says why",
};

const deletionsTotal = createCounter(
  "delivery_deletions_total",
  "Deletions that ended, by status and, when failed, the reason.",
  ["platform", "status", "code"],
);

/**
 * Records the results of deletions, with their events, in one transaction for all workers of the process. A result that the
 * database or our code refuses is recorded without the platform's text or as a failure, so that it does not delay the others.
 * If a result cannot be recorded, the lease of its deletion ends and the deletion is repeated, which is harmless.
 */
export class DeletionRecorder {
  readonly #deps: RecorderDeps;
  readonly #batcher: Batcher<EndedTry, undefined>;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.#batcher = new Batcher({
      windowMs: WINDOW_MS,
      maxItems: MAX_EVENTS,
      flush: async (tries) => {
        await this.#recordAll(tries);
        return tries.map(() => undefined);
      },
    });
  }

  async record(ended: EndedTry): Promise<void> {
    await this.#batcher.submit(ended);
  }

  async #recordAll(tries: readonly EndedTry[]): Promise<void> {
    try {
      await this.#record(tries);
    } catch (error) {
      if (isInfrastructureError(error) && !isDamagedData(error)) throw error;
      this.#logRefusal(error, tries);
      await Promise.all(tries.map((each) => this.#recordAlone(each)));
    }
  }

  /**
   * Records a refused result in a transaction of its own: unchanged, then without the platform's text, and then as a failure.
   * It never throws, because the other results of the batch are recorded at the same time.
   */
  async #recordAlone({ task, result }: EndedTry): Promise<void> {
    const forms = [result, withoutText(result)].flatMap((form) =>
      Array.from({ length: TRIES_PER_FORM }, () => form),
    );
    // A successful deletion is not recorded as a failure: the deletion is repeated, and succeeds again.
    if (result.kind !== "deleted") forms.push(NOT_RECORDED);
    for (const form of forms) {
      const ended = { task, result: form };
      try {
        return await this.#record([ended]);
      } catch (error) {
        this.#logRefusal(error, [ended]);
        if (isInfrastructureError(error) && !isDamagedData(error)) return;
      }
      await sleep(PAUSE_MS);
    }
  }

  #logRefusal(error: unknown, tries: readonly EndedTry[]): void {
    this.#deps.logger.error(
      { err: error, count: tries.length, targetId: tries[0]?.task.targetId },
      "the database or Postrider's own code refused to record results of deletions; each is recorded alone, without the platform's texts if it is refused again; a deletion whose result cannot be recorded is repeated when its lease ends",
    );
  }

  async #record(tries: readonly EndedTry[]): Promise<void> {
    const tasks = await this.#write(tries);
    if (tasks.length > 0) this.#deps.onEvents();
    for (const { platform, status, errorCode } of tasks)
      if (status !== "queued") deletionsTotal.inc({ platform, status, code: errorCode ?? "" });
  }

  async #write(tries: readonly EndedTry[]): Promise<readonly DeletionTask[]> {
    const { sql, settings, random } = this.#deps;
    const policy = { ...settings, heldMs: 0 };
    return await sql.begin(async (tx) => {
      const held = tries.map(({ task }) => task);
      const { tasks: stored, now } = await lockDeletions(tx, held);
      const locked = { calls: stored.map((task) => ({ ...NEVER_MARKED, ...task })), now };
      const decisions = decideInOrder(DELETIONS, locked, tries.map(toEvent), { policy, random });
      const tasks = [...decisions.values()].flatMap(({ changes }) =>
        changes.map(({ call }) => call),
      );
      if (tasks.length === 0) return [];
      await updateDeletions(tx, tasks);
      await appendEvents(
        tx,
        tasks.map((task) => causedBy(deletionUpdated(task), task.cause && causeOf(task.cause))),
      );
      const holds = [...decisions.values()].flatMap(({ call, account }) =>
        account?.kind === "limited" ? [{ ...call, until: account.until }] : [],
      );
      if (holds.length > 0) await holdAccounts(tx, holds);
      return tasks;
    });
  }
}

function toEvent({ task, result }: EndedTry): DeletionEvent {
  const { targetId, deletion, fence } = task;
  const key = { targetId, deletion, fence };
  if (result.kind === "given_up") return { ...key, ...result };
  const outcome = result.kind === "deleted" ? ({ kind: "done" } as const) : result;
  return { ...key, kind: "tried", outcome };
}
