import { decide } from "./decide.ts";
import type { Decision, TaskEvent } from "./decision.ts";
import type { RetryPolicy } from "./retry-policy.ts";
import { nameTask, type Attempt, type Task } from "./task.ts";

/** Targets with all their generations, and the attempts of the events, as they are under the lock. */
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
 * Decides about events one after the other, each with what the ones before it changed.
 *
 * @param random In [0, 1), asked once per event.
 * @returns The decisions by their events. An event whose task does not exist has none: a restore took the task away.
 */
export function decideInOrder(
  locked: LockedTargets,
  events: readonly TaskEvent[],
  policy: RetryPolicy,
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
