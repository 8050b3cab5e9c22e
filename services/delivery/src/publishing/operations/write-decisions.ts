import { appendEvents, causedBy } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { readClock } from "@postrider/shared/postgres/clock";
import type { Cause } from "@postrider/shared/telemetry/cause";
import { targetUpdated } from "#src/events.ts";
import { listAttempts, updateAttempts } from "#src/publishing/db/attempts.ts";
import { deleteHandles } from "#src/publishing/db/handles.ts";
import { lockTasks, updateTasks } from "#src/publishing/db/tasks.ts";
import type { LockedTargets } from "#src/publishing/domain/decide.ts";
import {
  toTargetUpdates,
  type Decision,
  type TargetUpdate,
} from "#src/publishing/domain/decision.ts";
import { isFinal, nameTask, type AttemptKey } from "#src/publishing/domain/task.ts";

/**
 * Locks publishing targets with the tasks of all their publish requests, and reads the attempts with the given keys.
 */
export async function lockTargets(
  tx: TransactionSql,
  keys: readonly AttemptKey[],
): Promise<LockedTargets> {
  const targetIds = [...new Set(keys.map((key) => key.targetId))];
  const [tasks, attempts, now] = await Promise.all([
    lockTasks(tx, targetIds),
    listAttempts(tx, keys),
    readClock(tx),
  ]);
  return { tasks, attempts, now };
}

/** Returns one item for each key: the last one with this key. */
function lastOfEach<T>(items: readonly T[], name: (item: T) => string): readonly T[] {
  return [...new Map(items.map((item) => [name(item), item])).values()];
}

/**
 * Writes the decisions about publish tasks whose targets are locked, in the order in which they were made. Appends the
 * events for the posts service to the outbox.
 *
 * @param causes Headers of the API requests that led to the decisions, by target.
 */
export async function writeDecisions(
  tx: TransactionSql,
  decisions: readonly Decision[],
  causes: ReadonlyMap<string, Cause>,
): Promise<readonly TargetUpdate[]> {
  const changes = decisions.flatMap((decision) => decision.changes);
  const tasks = lastOfEach(
    changes.map(({ task }) => task),
    nameTask,
  );
  const attempts = lastOfEach(
    decisions.flatMap(({ attempt }) => attempt ?? []),
    ({ targetId, number }) => `${targetId}/${number}`,
  );
  // A failed task whose publishing call has an unknown outcome keeps its handles (ids from the platform), because a
  // late answer can continue the task.
  const ended = tasks.filter((task) => isFinal(task.status) && task.openUnknowns === 0);
  const updates = decisions.flatMap(toTargetUpdates);
  // The events are built before the SQL statements begin. If building an event failed after they had begun, no code
  // would wait for the statements, and a statement that fails would then end the process.
  const events = updates.map((update) =>
    causedBy(targetUpdated(update), causes.get(update.task.targetId)),
  );
  await Promise.all([
    attempts.length > 0 ? updateAttempts(tx, attempts) : undefined,
    tasks.length > 0 ? updateTasks(tx, tasks) : undefined,
    ended.length > 0 ? deleteHandles(tx, ended) : undefined,
    appendEvents(tx, events),
  ]);
  return updates;
}
