import { appendEvents, causedBy } from "@postrider/shared/outbox";
import { Batcher } from "@postrider/shared/process/batcher";
import { causeOf } from "@postrider/shared/telemetry/cause";
import { createCounter } from "@postrider/shared/telemetry/metrics";
import { deletionUpdated } from "#src/events.ts";
import { holdAccounts } from "#src/publishing/db/account-gates.ts";
import { lockDeletions, updateDeletions } from "#src/publishing/db/deletions.ts";
import {
  decideDeletion,
  nameDeletion,
  type DeletionDecision,
  type DeletionResult,
  type DeletionTask,
} from "#src/publishing/domain/deletion.ts";
import type { PublishingDeps } from "./dependencies.ts";

type RecorderDeps = Pick<PublishingDeps, "sql" | "settings" | "random" | "onEvents">;

/** How one try of a claimed deletion task ended, with the data that is recorded about it. */
interface EndedTry {
  readonly task: DeletionTask;
  readonly result: DeletionResult;
}

/** How long results of deletions are collected before they are recorded in one transaction. */
const WINDOW_MS = 2;
/** Maximum number of results of deletions per transaction. */
const MAX_EVENTS = 100;

const deletionsTotal = createCounter(
  "delivery_deletions_total",
  "Deletions that ended, by status and, when failed, the reason.",
  ["platform", "status", "code"],
);

/**
 * Records the results of deletions, with their events, in one transaction for all workers of the process. If a result
 * cannot be recorded, the lease of its deletion ends and the deletion is repeated, which is harmless.
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
        await this.#record(tries);
        return tries.map(() => undefined);
      },
    });
  }

  async record(ended: EndedTry): Promise<void> {
    await this.#batcher.submit(ended);
  }

  async #record(tries: readonly EndedTry[]): Promise<void> {
    const decisions = await this.#write(tries);
    if (decisions.length > 0) this.#deps.onEvents();
    for (const { task } of decisions) {
      const { platform, status, errorCode } = task;
      if (status !== "queued") deletionsTotal.inc({ platform, status, code: errorCode ?? "" });
    }
  }

  async #write(tries: readonly EndedTry[]): Promise<readonly DeletionDecision[]> {
    const { sql, settings, random } = this.#deps;
    const results = new Map(tries.map(({ task, result }) => [nameDeletion(task), result]));
    return await sql.begin(async (tx) => {
      const held = await lockDeletions(
        tx,
        tries.map(({ task }) => task),
      );
      const decisions = held.tasks.flatMap((task) => {
        const result = results.get(nameDeletion(task));
        if (result === undefined) return [];
        return [decideDeletion(task, result, { now: held.now, random: random() }, settings)];
      });
      if (decisions.length === 0) return [];
      const tasks = decisions.map(({ task }) => task);
      await updateDeletions(tx, tasks);
      await appendEvents(
        tx,
        tasks.map((task) => causedBy(deletionUpdated(task), task.cause && causeOf(task.cause))),
      );
      const holds = decisions.flatMap(({ task, holdUntil }) =>
        holdUntil === undefined ? [] : [{ ...task, until: holdUntil }],
      );
      if (holds.length > 0) await holdAccounts(tx, holds);
      return decisions;
    });
  }
}
