import type { TransactionSql } from "@postrider/shared/postgres";
import {
  countFailures,
  holdAccounts,
  lockGates,
  resetFailures,
} from "#src/publishing/db/account-gates.ts";
import { insertQuestions } from "#src/publishing/db/detail-questions.ts";
import { addHandles, type HandleSealing } from "#src/publishing/db/handles.ts";
import { findBrakes, lockBrakes, updateBrakes } from "#src/publishing/db/platform-brakes.ts";
import type { AccountEffect, Decision, TaskEvent } from "#src/publishing/domain/decision.ts";
import {
  isAnswer,
  isSameBrake,
  nextBrake,
  releasedBrake,
  type BrakePolicy,
  type CallSignal,
  type PlatformBrake,
} from "#src/publishing/domain/platform-brake.ts";
import { nextAccountPauseMs, type RetryPolicy } from "#src/publishing/domain/retry-policy.ts";
import type { Task } from "#src/publishing/domain/task.ts";

/**
 * Stores the handles (upload ids and similar values) that platforms returned to publishing calls, and records published
 * targets whose post id must still be requested from the platform.
 */
export async function writeHandles(
  tx: TransactionSql,
  sealing: HandleSealing,
  decisions: readonly Decision[],
): Promise<void> {
  const returned = decisions.flatMap(({ task, handles }) =>
    handles === undefined ? [] : [{ task, handles: sealing.seal(task, handles) }],
  );
  if (returned.length > 0) await addHandles(tx, returned);
  const questions = decisions.flatMap(({ task, askLater }) =>
    askLater === undefined ? [] : [{ task, handles: askLater }],
  );
  if (questions.length > 0) await insertQuestions(tx, questions);
}

/**
 * Updates the number of failures in a row of the accounts that the decisions are about. Pauses accounts that a platform limits
 * or that fail repeatedly.
 */
export async function gateAccounts(
  tx: TransactionSql,
  policy: RetryPolicy,
  decisions: readonly Decision[],
  now: Date,
): Promise<void> {
  const tasksWith = (kind: AccountEffect["kind"]): readonly Task[] =>
    decisions.filter(({ account }) => account?.kind === kind).map(({ task }) => task);
  const [answered, failed, limited] = [
    tasksWith("answered"),
    tasksWith("failed"),
    tasksWith("limited"),
  ];
  if (answered.length + failed.length + limited.length === 0) return;
  const locked = new Set(await lockGates(tx, { answered, stopped: [...failed, ...limited] }));
  const failing = answered.map((task) => task.accountId).filter((id) => locked.has(id));
  if (failing.length > 0) await resetFailures(tx, failing);
  const counts = failed.length > 0 ? await countFailures(tx, failed) : [];
  const pauses = counts.flatMap(({ failuresInRow, ...account }) => {
    const pauseMs = nextAccountPauseMs(policy, failuresInRow);
    return pauseMs === undefined ? [] : [{ ...account, until: new Date(now.getTime() + pauseMs) }];
  });
  const limits = decisions.flatMap(({ task, account }) =>
    account?.kind === "limited" ? [{ ...task, until: account.until }] : [],
  );
  if (pauses.length + limits.length > 0) await holdAccounts(tx, [...pauses, ...limits]);
}

/** Whether the event is about the open publishing call of the task; `calledAt` of the task is then the time of this call. */
function isOfOpenCall(
  event: Extract<TaskEvent, { kind: "called" | "mark_lost" }>,
  { status, callNumber, fence }: Task,
): boolean {
  const isOfWorker = event.kind === "called" || event.fence === fence;
  return isOfWorker && status === "calling" && callNumber === event.callNumber;
}

/**
 * Returns what an event about a publish task, in its state before the event, says about the platform. A lost call says
 * nothing, because the next probe is due about when the call is found to be lost.
 */
function toSignal(event: TaskEvent, task: Task): (CallSignal & Pick<Task, "platform">) | undefined {
  if (event.kind !== "called" && event.kind !== "mark_lost") return undefined;
  if (event.isForeignHost === true) return undefined;
  const isAnswered = event.kind === "called" ? isAnswer(event.outcome) : undefined;
  if (isAnswered === undefined && !isOfOpenCall(event, task)) return undefined;
  const { platform, accountId, calledAt } = task;
  return { platform, isAnswered, accountId, calledAt };
}

/** Returns, by platform, what the outcomes of publishing calls say about whether the platform answers. */
function toSignals(
  decisions: ReadonlyMap<TaskEvent, Decision>,
): ReadonlyMap<string, readonly CallSignal[]> {
  const signals = [...decisions].flatMap(([event, { task }]) => toSignal(event, task) ?? []);
  return Map.groupBy(signals, ({ platform }) => platform);
}

/**
 * Stops (holds) the publishing calls to platforms that left several calls in a row without an answer, and allows them
 * again for platforms that answered. Nothing is locked or written while all platforms answer.
 */
export async function brakePlatforms(
  tx: TransactionSql,
  policy: BrakePolicy,
  decisions: ReadonlyMap<TaskEvent, Decision>,
  now: Date,
): Promise<void> {
  const signals = toSignals(decisions);
  if (signals.size === 0) return;
  const toChanges = (brakes: readonly PlatformBrake[]): readonly PlatformBrake[] => {
    const known = new Map(brakes.map((brake) => [brake.platform, brake]));
    return [...signals].flatMap(([platform, ofPlatform]) => {
      const before = known.get(platform) ?? releasedBrake(platform);
      const after = nextBrake(before, ofPlatform, now, policy);
      return isSameBrake(before, after) ? [] : [after];
    });
  };
  const planned = toChanges(await findBrakes(tx, [...signals.keys()]));
  if (planned.length === 0) return;
  const locked = await lockBrakes(
    tx,
    planned.map(({ platform }) => platform),
  );
  const names = new Set(locked.map(({ platform }) => platform));
  const changes = toChanges(locked).filter(({ platform }) => names.has(platform));
  if (changes.length > 0) await updateBrakes(tx, changes);
}
