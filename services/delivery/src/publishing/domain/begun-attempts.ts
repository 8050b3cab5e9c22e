import type { Attempt } from "#src/calls/call.ts";
import type { Locked } from "#src/calls/decide-in-order.ts";
import { attemptInWork, type Task, type TaskEvent } from "./task.ts";

/** They end an attempt although none of its calls was marked. */
const ENDS: ReadonlySet<TaskEvent["kind"]> = new Set<TaskEvent["kind"]>([
  "step_failed",
  "given_up",
  "platform_held",
]);

/**
 * A mark stores its attempt. An attempt that ends before a mark is first known from the event: it
 * is added here to what is stored, so that the decision ends it like any other.
 */
export function withBegunAttempts(
  { calls, attempts, now }: Required<Locked<Task>>,
  events: readonly TaskEvent[],
): Required<Locked<Task>> {
  const begun = events.flatMap((event): Attempt[] => {
    const task = calls.find(
      ({ targetId, generation }) => targetId === event.targetId && generation === event.generation,
    );
    const isStored = attempts.some(
      ({ targetId, number }) => targetId === event.targetId && number === event.attemptNumber,
    );
    return task === undefined || isStored || !isBegun(task, event) ? [] : [toAttempt(task)];
  });
  const numbers = new Map(begun.map(({ targetId, number }) => [targetId, number]));
  return {
    calls: calls.map((task) => {
      const number = task.status === "working" ? numbers.get(task.targetId) : undefined;
      return number === undefined ? task : { ...task, attemptNumber: number, isAttemptOpen: true };
    }),
    attempts: [...attempts, ...begun],
    now,
  };
}

function isBegun(task: Task, event: TaskEvent): boolean {
  return (
    ENDS.has(event.kind) &&
    task.status === "working" &&
    "fence" in event &&
    event.fence === task.fence &&
    event.attemptNumber === attemptInWork(task)
  );
}

function toAttempt(task: Task): Attempt {
  return {
    targetId: task.targetId,
    number: attemptInWork(task),
    callNumber: 0,
    fence: task.fence,
    startedAt: task.updatedAt,
    finishedAt: null,
    outcome: null,
    code: "",
    message: "",
    externalId: null,
    permalink: null,
    isNotSent: false,
    isNew: true,
  };
}
