import type { Caveat } from "@postrider/platforms/publishing/outcome";
import { appendEvents } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { writeCalls } from "#src/calls/table.ts";
import { targetUpdated } from "#src/events.ts";
import { TASK_TABLE } from "#src/publishing/db/task-table.ts";
import { lockTasks } from "#src/publishing/db/tasks.ts";
import type { Task } from "#src/publishing/domain/task.ts";
import type { PublishingDeps } from "./dependencies.ts";

/** What was learned of a published post after its publication. */
export interface CaveatReport {
  readonly targetId: string;
  readonly workspaceId: string;
  readonly externalId: string;
  readonly caveat: Caveat;
}

/** Undefined if nothing is added. */
export function addCaveat(task: Task, { code, message }: Caveat): Task | undefined {
  const isKnown = task.errorCode === code && task.errorMessage === message;
  if (isKnown || task.status !== "published" || task.errorCode === "duplicate_detected")
    return undefined;
  return { ...task, version: task.version + 1, errorCode: code, errorMessage: message };
}

export async function writePublished(tx: TransactionSql, task: Task): Promise<void> {
  await writeCalls(tx, TASK_TABLE, [task]);
  await appendEvents(tx, [targetUpdated({ task, attempt: undefined, isLaterUpdate: true })]);
}

async function writeCaveat(
  tx: TransactionSql,
  { targetId, workspaceId, externalId, caveat }: CaveatReport,
): Promise<void> {
  const tasks = await lockTasks(tx, [targetId]);
  const task = tasks.find(
    (each) => each.workspaceId === workspaceId && each.externalId === externalId,
  );
  const changed = task === undefined ? undefined : addCaveat(task, caveat);
  if (changed !== undefined) await writePublished(tx, changed);
}

/** Never throws: what cannot be written is reported again with the next metrics of the post. */
export function createCaveatReporter({
  sql,
  logger,
  onEvents,
}: Pick<PublishingDeps, "sql" | "logger" | "onEvents">) {
  return async (reports: readonly CaveatReport[]): Promise<void> => {
    for (const report of reports)
      try {
        await sql.begin((tx) => writeCaveat(tx, report));
        onEvents();
      } catch (err) {
        logger.warn(
          { err, targetId: report.targetId },
          "what became of a published post could not be stored; it is stored when its metrics are read again",
        );
      }
  };
}
