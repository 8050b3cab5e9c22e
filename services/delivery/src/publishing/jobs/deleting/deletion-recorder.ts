import { appendEvents, causedBy } from "@postrider/shared/outbox";
import { causeOf } from "@postrider/shared/telemetry/cause";
import { createCounter } from "@postrider/shared/telemetry/metrics";
import { deletionUpdated } from "#src/events.ts";
import { holdAccounts } from "#src/publishing/db/account-gates.ts";
import { lockDeletions, updateDeletions } from "#src/publishing/db/deletions.ts";
import {
  decideDeletion,
  type DeletionDecision,
  type DeletionResult,
  type DeletionTask,
} from "#src/publishing/domain/deletion.ts";
import type { PublishingDeps } from "#src/publishing/jobs/publishing/deps.ts";
import { Gatherer } from "#src/publishing/jobs/publishing/gatherer.ts";

type RecorderDeps = Pick<PublishingDeps, "sql" | "settings" | "random" | "onEvents">;

/** What one try of a claimed deletion came to. */
export interface DeletionReport {
  readonly task: DeletionTask;
  readonly result: DeletionResult;
}

const WINDOW_MS = 2;
const MAX_REPORTS = 100;

const deletionsTotal = createCounter(
  "delivery_deletions_total",
  "Deletions that came to an end, by their status and, when failed, the reason.",
  ["platform", "status", "code"],
);

function nameDeletion({ targetId, deletion }: DeletionTask): string {
  return `${targetId}/${deletion}`;
}

/**
 * Writes what deletions came to, with the event that tells it, in one transaction for all workers of the process. What
 * cannot be written is not kept: the lease ends, and deleting again is harmless.
 */
export class DeletionRecorder {
  readonly #deps: RecorderDeps;
  readonly #gatherer: Gatherer<DeletionReport, undefined>;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.#gatherer = new Gatherer({
      windowMs: WINDOW_MS,
      maxItems: MAX_REPORTS,
      flush: async (reports) => {
        await this.#record(reports);
        return reports.map(() => undefined);
      },
    });
  }

  async record(report: DeletionReport): Promise<void> {
    await this.#gatherer.submit(report);
  }

  async #record(reports: readonly DeletionReport[]): Promise<void> {
    const decisions = await this.#write(reports);
    if (decisions.length > 0) this.#deps.onEvents();
    for (const { task } of decisions) {
      const { platform, status, errorCode } = task;
      if (status !== "queued") deletionsTotal.inc({ platform, status, code: errorCode ?? "" });
    }
  }

  async #write(reports: readonly DeletionReport[]): Promise<readonly DeletionDecision[]> {
    const { sql, settings, random } = this.#deps;
    const results = new Map(reports.map(({ task, result }) => [nameDeletion(task), result]));
    return await sql.begin(async (tx) => {
      const held = await lockDeletions(
        tx,
        reports.map(({ task }) => task),
      );
      const decisions = held.tasks.flatMap((task) => {
        const result = results.get(nameDeletion(task));
        if (result === undefined) return [];
        return [decideDeletion(task, result, { now: held.now, random: random() }, settings)];
      });
      if (decisions.length === 0) return [];
      const tasks = decisions.map(({ task }) => task);
      await updateDeletions(tx, tasks);
      const events = tasks.map((task) =>
        causedBy(deletionUpdated(task), task.cause && causeOf(task.cause)),
      );
      await appendEvents(tx, events);
      const holds = decisions.flatMap(({ task, holdUntil }) =>
        holdUntil === undefined ? [] : [{ ...task, until: holdUntil }],
      );
      if (holds.length > 0) await holdAccounts(tx, holds);
      return decisions;
    });
  }
}
