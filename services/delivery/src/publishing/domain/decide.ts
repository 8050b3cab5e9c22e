import type { Outcome, TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import { after, fail, onFailure, onPending, requeue, toUnknown } from "./decide-failure.ts";
import { onPlatformHeld } from "./decide-hold.ts";
import { onHistory, onLate } from "./decide-late.ts";
import { onPublished } from "./decide-success.ts";
import { onVerdict } from "./decide-verdict.ts";
import {
  attemptWith,
  change,
  nothing,
  type Decision,
  type Learned,
  type TaskEvent,
  type TaskSnapshot,
} from "./decision.ts";
import type { PublishingPolicy } from "./retry-policy.ts";
import { nameTask, type Attempt, type Task, type TaskStatus } from "./task.ts";

/**
 * How long a task waits for its next try after the database did not answer whether it recorded the beginning of the
 * task's publishing call, in milliseconds.
 */
const MARK_LOST_MS = 1_000;
const WORKER_LOST = "the worker stopped during the publishing call";

/**
 * Targets that are locked in the database, with the tasks of all their publish requests and the attempts
 * that the events are about.
 */
export interface LockedTargets {
  readonly tasks: readonly Task[];
  readonly attempts: readonly Attempt[];
  /** The database's time after the locks were granted. */
  readonly now: Date;
}

function nameAttempt(targetId: string, number: number): string {
  return `${targetId}/${number}`;
}

/**
 * Decides what follows from events about publish tasks, one event after the other. Each decision takes into account
 * what the earlier decisions changed.
 *
 * @param random Returns a number in [0, 1); called once per event. @returns The decisions by their events. An event has
 * no decision if its task does not exist because a restore removed the task.
 */
export function decideInOrder(
  locked: LockedTargets,
  events: readonly TaskEvent[],
  policy: PublishingPolicy,
  random: () => number,
): ReadonlyMap<TaskEvent, Decision> {
  const { now } = locked;
  const tasks = new Map(locked.tasks.map((task) => [nameTask(task), task]));
  const attempts = new Map(
    locked.attempts.map((attempt) => [nameAttempt(attempt.targetId, attempt.number), attempt]),
  );
  const decisions = new Map<TaskEvent, Decision>();
  for (const event of events) {
    const task = tasks.get(nameTask(event));
    if (task === undefined) continue;
    const siblings = [...tasks.values()].filter(
      (other) => other.targetId === task.targetId && other.generation !== task.generation,
    );
    const attempt = attempts.get(nameAttempt(event.targetId, event.attemptNumber));
    const decision = decide({ task, siblings, attempt, now, random: random() }, event, policy);
    decisions.set(event, decision);
    for (const changed of decision.changes) tasks.set(nameTask(changed.task), changed.task);
    if (decision.attempt !== undefined)
      attempts.set(nameAttempt(event.targetId, event.attemptNumber), decision.attempt);
  }
  return decisions;
}

/**
 * Decides what follows from an event about a publish task. Only this function decides whether a target is published,
 * tried again, searched for on its platform or given up. The function is pure: the time and a random number are part of
 * its input.
 */
export function decide(
  snapshot: TaskSnapshot,
  learned: Learned,
  policy: PublishingPolicy,
): Decision {
  switch (learned.kind) {
    case "called":
      return onCalled(snapshot, learned.callNumber, learned.outcome, policy);
    case "call_lost":
      return onCallLost(snapshot, learned.callNumber);
    case "mark_lost":
      return onMarkLost(snapshot, learned, policy);
    case "platform_held":
    case "looked":
    case "step_failed":
    case "given_up":
    case "not_wanted":
      return isHeld(snapshot.task, learned) ? onWork(snapshot, learned, policy) : nothing(snapshot);
  }
}

type MarkLost = Extract<Learned, { kind: "mark_lost" }>;
type Fenced = Exclude<Extract<Learned, { fence: number }>, MarkLost>;

const HOLDING: Readonly<Record<Fenced["kind"], readonly TaskStatus[]>> = {
  platform_held: ["working"],
  looked: ["reconciling"],
  step_failed: ["working"],
  given_up: ["working", "reconciling"],
  not_wanted: ["working"],
};

/** Whether the worker that reports the event still holds the publish task. */
function isHeld(task: Task, { fence, kind }: Fenced): boolean {
  return task.fence === fence && HOLDING[kind].includes(task.status);
}

function onWork(snapshot: TaskSnapshot, learned: Fenced, policy: PublishingPolicy): Decision {
  switch (learned.kind) {
    case "looked":
      return (
        onKnownAlready(snapshot) ?? onVerdict(snapshot, learned.verdict, learned.maxResends, policy)
      );
    case "platform_held":
      return onPlatformHeld(snapshot, policy);
    case "step_failed":
      return onFailure(snapshot, learned.failure, policy);
    case "given_up":
      return fail(snapshot, learned.code, learned.message);
    case "not_wanted": {
      const { task } = snapshot;
      const dropped: Task = { ...task, status: "dropped", isAttemptOpen: false };
      return { task, changes: [change(dropped, false)] };
    }
  }
}

/**
 * Returns the decision to publish a target if its attempt already contains a success. Such a success was stored there
 * because the decision about it could not be written to the publish task.
 */
function onKnownAlready(snapshot: TaskSnapshot): Decision | undefined {
  const { attempt } = snapshot;
  if (attempt?.outcome !== "published") return undefined;
  const { code, message } = attempt;
  const caveat = code === "" ? {} : { caveat: { code: code as TargetErrorCode, message } };
  return onPublished(snapshot, { ...attempt, ...caveat });
}

function onCallLost(snapshot: TaskSnapshot, callNumber: number): Decision {
  const { task, now } = snapshot;
  const isOver = task.callUntil !== null && task.callUntil <= now;
  if (task.status !== "calling" || task.callNumber !== callNumber || !isOver)
    return nothing(snapshot);
  return onKnownAlready(snapshot) ?? toUnknown(snapshot, { message: WORKER_LOST });
}

/**
 * Decides what follows when a worker does not know whether the database recorded that its publishing call begins. If
 * the beginning is recorded, the call ends as not sent. If it is not recorded, the task is released. A statement that
 * still runs in the database and would record the beginning then finds the task queued, and records nothing.
 */
function onMarkLost(
  snapshot: TaskSnapshot,
  { fence, callNumber }: MarkLost,
  policy: PublishingPolicy,
): Decision {
  const { task, attempt, now } = snapshot;
  // The fencing token is compared too, because another worker that has since claimed the task can have recorded a call
  // with the same number.
  if (attempt?.fence === fence && attempt.callNumber === callNumber)
    return onCalled(snapshot, callNumber, { kind: "not_sent" }, policy);
  if (task.fence !== fence || task.status !== "working") return nothing(snapshot);
  return { task, changes: [change(requeue(task, after(now, MARK_LOST_MS)), false)] };
}

/**
 * Whether the attempt still waits for the outcome of this publishing call. An attempt in which a later call was made
 * already has the outcome of this call.
 */
function isOfCall(attempt: Attempt | undefined, callNumber: number): boolean {
  return attempt !== undefined && attempt.callNumber === callNumber;
}

function onCalled(
  snapshot: TaskSnapshot,
  callNumber: number,
  outcome: Outcome,
  policy: PublishingPolicy,
): Decision {
  const { task } = snapshot;
  if (!isOfCall(snapshot.attempt, callNumber)) return nothing(snapshot);
  if (outcome.kind === "published") return onPublished(snapshot, outcome);
  if (task.status === "calling" && task.callNumber === callNumber)
    return onCurrentCall(snapshot, outcome, policy);
  return isOpenQuestion(snapshot, callNumber)
    ? onLate(snapshot, outcome, policy)
    : onHistory(snapshot, outcome);
}

function onCurrentCall(
  snapshot: TaskSnapshot,
  outcome: Exclude<Outcome, { kind: "published" }>,
  policy: PublishingPolicy,
): Decision {
  const { task, now } = snapshot;
  switch (outcome.kind) {
    case "unknown":
      // An account whose calls get no answer is paused like one whose calls fail.
      return { account: { kind: "failed" }, ...toUnknown(snapshot, outcome) };
    case "pending":
      return onPending(snapshot, outcome);
    case "not_sent":
      return {
        task,
        changes: [change(requeue(task, now), false)],
        ...attemptWith(snapshot, null, {}, { isNotSent: true }),
      };
    case "refused":
    case "retryable":
    case "token_refused":
      return onFailure(snapshot, outcome, policy);
  }
}

/**
 * Whether the publish task still waits for the outcome of this publishing call, and no newer publish request of its
 * target exists.
 */
function isOpenQuestion({ task, siblings }: TaskSnapshot, callNumber: number): boolean {
  if (task.callNumber !== callNumber) return false;
  if (siblings.some((sibling) => sibling.generation > task.generation)) return false;
  if (task.status === "unknown" || task.status === "reconciling") return true;
  return task.status === "failed" && task.errorCode === "outcome_unknown" && task.openUnknowns > 0;
}
