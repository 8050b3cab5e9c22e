import { appendEvents, causedBy } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { readClock } from "@postrider/shared/postgres/clock";
import type { Cause } from "@postrider/shared/telemetry/cause";
import {
  isSameBreaker,
  nextBreaker,
  closedBreaker,
  type BreakerPolicy,
  type PlatformBreaker,
} from "#src/calls/breaker.ts";
import type { AccountEffect, Decision } from "#src/calls/call.ts";
import type { Locked } from "#src/calls/decide-in-order.ts";
import { writeCalls } from "#src/calls/table.ts";
import { targetUpdated } from "#src/events.ts";
import {
  countFailures,
  delayAccounts,
  lockAccountBreakers,
  resetFailures,
} from "#src/publishing/db/account-breakers.ts";
import { insertAttempts, listAttempts, updateAttempts } from "#src/publishing/db/attempts.ts";
import { insertDeletions } from "#src/publishing/db/deletions.ts";
import { insertQuestions } from "#src/publishing/db/detail-questions.ts";
import { addHandles, type HandleSealing } from "#src/publishing/db/handles.ts";
import {
  findBreakers,
  lockPlatformBreakers,
  updateBreakers,
} from "#src/publishing/db/platform-breakers.ts";
import { storePlatformLimits } from "#src/publishing/db/platform-limits.ts";
import { TASK_TABLE } from "#src/publishing/db/task-table.ts";
import { lockTasks } from "#src/publishing/db/tasks.ts";
import { toSignals } from "#src/publishing/domain/call-signals.ts";
import { isLiveCheck } from "#src/publishing/domain/live-check.ts";
import { nextAccountPauseMs, type RetryPolicy } from "#src/publishing/domain/retry-policy.ts";
import {
  nameTask,
  toTargetUpdates,
  type AttemptKey,
  type TargetUpdate,
  type Task,
  type TaskEvent,
} from "#src/publishing/domain/task.ts";

export async function lockTargets(
  tx: TransactionSql,
  keys: readonly AttemptKey[],
): Promise<Required<Locked<Task>>> {
  const targetIds = [...new Set(keys.map((key) => key.targetId))];
  const [calls, attempts, now] = await Promise.all([
    lockTasks(tx, targetIds),
    listAttempts(tx, keys),
    readClock(tx),
  ]);
  return { calls, attempts, now };
}

function lastOfEach<T>(items: readonly T[], name: (item: T) => string): readonly T[] {
  return [...new Map(items.map((item) => [name(item), item])).values()];
}

/** In the order of the decisions. `causes`: headers of the API requests, by target. */
export async function writeDecisions(
  tx: TransactionSql,
  decisions: readonly Decision<Task>[],
  causes: ReadonlyMap<string, Cause>,
): Promise<readonly TargetUpdate[]> {
  const changes = decisions.flatMap((decision) => decision.changes);
  const tasks = lastOfEach(
    changes.map(({ call }) => call),
    nameTask,
  );
  const attempts = lastOfEach(
    decisions.flatMap(({ call: task, attempt }) => (attempt ? [{ task, attempt }] : [])),
    ({ attempt: { targetId, number } }) => `${targetId}/${number}`,
  );
  const begun = attempts.filter(({ attempt }) => attempt.isNew);
  const stored = attempts.flatMap(({ attempt }) => (attempt.isNew ? [] : [attempt]));
  const checks = tasks.filter(isPublishedCheck);
  const updates = decisions.flatMap(toTargetUpdates);
  // The events are built before the SQL statements begin. If building an event failed after they
  // had begun, no code would wait for the statements, and a statement that fails would then end the
  // process.
  const events = updates.map((update) =>
    causedBy(targetUpdated(update), causes.get(update.task.targetId)),
  );
  await Promise.all([
    begun.length > 0 ? insertAttempts(tx, begun) : undefined,
    stored.length > 0 ? updateAttempts(tx, stored) : undefined,
    tasks.length > 0 ? writeCalls(tx, TASK_TABLE, tasks) : undefined,
    checks.length > 0 ? requestDeletions(tx, checks) : undefined,
    appendEvents(tx, events),
  ]);
  return updates;
}

function isPublishedCheck(task: Task): boolean {
  return task.status === "published" && isLiveCheck(task);
}

/** With the record of the publication, so that no crash and no restore leaves the post. */
async function requestDeletions(tx: TransactionSql, checks: readonly Task[]): Promise<void> {
  const requests = checks.map((task) => ({
    ...task,
    deletion: 1,
    externalId: task.externalId ?? "",
  }));
  await insertDeletions(tx, requests);
}

export async function writeHandles(
  tx: TransactionSql,
  sealing: HandleSealing,
  decisions: readonly Decision<Task>[],
): Promise<void> {
  const returned = decisions.flatMap(({ call: task, handles }) =>
    handles === undefined ? [] : [{ task, handles: sealing.seal(task, handles) }],
  );
  if (returned.length > 0) await addHandles(tx, returned);
  const questions = decisions.flatMap(({ call: task, askLater }) =>
    askLater === undefined || isLiveCheck(task) ? [] : [{ task, handles: askLater }],
  );
  if (questions.length > 0) await insertQuestions(tx, questions);
}

/**
 * Pauses accounts that a platform limits or that fail repeatedly. A limit of our app holds the
 * publishing of all accounts instead, and none of their deletions.
 */
export async function writeAccountBreakers(
  tx: TransactionSql,
  policy: RetryPolicy,
  decisions: readonly Decision<Task>[],
  now: Date,
): Promise<void> {
  const tasksWith = (kind: AccountEffect["kind"]): readonly Task[] =>
    decisions.filter(({ account }) => account?.kind === kind).map(({ call }) => call);
  const [answered, failed] = [tasksWith("answered"), tasksWith("failed")];
  const limited = decisions.flatMap(({ call, account }) =>
    account?.kind === "limited" ? [{ ...call, ...account }] : [],
  );
  const ofApp = limited.flatMap(({ platform, until, ofApp: why }) =>
    why === undefined ? [] : [{ platform, until, ...why }],
  );
  if (ofApp.length > 0) await storePlatformLimits(tx, ofApp);
  const limits = limited.filter(({ ofApp: why }) => why === undefined);
  if (answered.length + failed.length + limits.length === 0) return;
  const locked = new Set(
    await lockAccountBreakers(tx, { answered, stopped: [...failed, ...limits] }),
  );
  const failing = answered.map((task) => task.accountId).filter((id) => locked.has(id));
  if (failing.length > 0) await resetFailures(tx, failing);
  const counts = failed.length > 0 ? await countFailures(tx, failed) : [];
  const pauses = counts.flatMap(({ failuresInRow, ...account }) => {
    const pauseMs = nextAccountPauseMs(policy, failuresInRow);
    return pauseMs === undefined ? [] : [{ ...account, until: new Date(now.getTime() + pauseMs) }];
  });
  if (pauses.length + limits.length > 0) await delayAccounts(tx, [...pauses, ...limits]);
}

/** Nothing is locked or written while all platforms answer. */
export async function writePlatformBreakers(
  tx: TransactionSql,
  policy: BreakerPolicy,
  decisions: ReadonlyMap<TaskEvent, Decision<Task>>,
  now: Date,
): Promise<void> {
  const signals = toSignals(decisions);
  if (signals.size === 0) return;
  const toChanges = (breakers: readonly PlatformBreaker[]): readonly PlatformBreaker[] => {
    const known = new Map(breakers.map((breaker) => [breaker.platform, breaker]));
    return [...signals].flatMap(([platform, ofPlatform]) => {
      const before = known.get(platform) ?? closedBreaker(platform);
      const after = nextBreaker(before, ofPlatform, now, policy);
      return isSameBreaker(before, after) ? [] : [after];
    });
  };
  const planned = toChanges(await findBreakers(tx, [...signals.keys()]));
  if (planned.length === 0) return;
  const locked = await lockPlatformBreakers(
    tx,
    planned.map(({ platform }) => platform),
  );
  const names = new Set(locked.map(({ platform }) => platform));
  const changes = toChanges(locked).filter(({ platform }) => names.has(platform));
  if (changes.length > 0) await updateBreakers(tx, changes);
}
