import type { TargetErrorCode, Unknown } from "@postrider/platforms/publishing/outcome";
import type { CallSignal } from "#src/calls/breaker.ts";
import type { CallOutcome } from "#src/calls/call-event.ts";
import type { Decision } from "#src/calls/call.ts";
import type { Task, TaskEvent } from "./task.ts";

/** Codes that published nothing and do not show that the platform answers publishing calls. */
const WITHOUT_ANSWER: ReadonlySet<TargetErrorCode> = new Set<TargetErrorCode>([
  "platform_unavailable",
  "internal_error",
]);

/** A limit is an answer too. */
function hasAnswer({ isAnswered, limitedForMs }: Unknown): boolean {
  return isAnswered === true || limitedForMs !== undefined;
}

/** Undefined if the outcome does not say whether the platform answered. */
export function isAnswer(outcome: CallOutcome): boolean | undefined {
  switch (outcome.kind) {
    case "unknown":
      return hasAnswer(outcome);
    case "not_sent":
      return undefined;
    case "retryable":
      return WITHOUT_ANSWER.has(outcome.code) ? undefined : true;
    case "published":
    case "done":
    case "pending":
    case "refused":
    case "token_refused":
      return true;
  }
}

/** Then `calledAt` of the task is the time of this call. */
function isOfOpenCall(
  event: Extract<TaskEvent, { kind: "called" | "mark_lost" }>,
  { status, callNumber, fence }: Task,
): boolean {
  const isOfWorker = event.kind === "called" || event.fence === fence;
  return isOfWorker && status === "calling" && callNumber === event.callNumber;
}

/** `task` is the state before the event. A lost call says nothing: the next probe is due anyway. */
function toSignal(event: TaskEvent, task: Task): (CallSignal & Pick<Task, "platform">) | undefined {
  if (event.kind !== "called" && event.kind !== "mark_lost") return undefined;
  if (event.isForeignHost === true) return undefined;
  const isAnswered = event.kind === "called" ? isAnswer(event.outcome) : undefined;
  if (isAnswered === undefined && !isOfOpenCall(event, task)) return undefined;
  const { platform, accountId, calledAt } = task;
  return { platform, isAnswered, accountId, calledAt };
}

export function toSignals(
  decisions: ReadonlyMap<TaskEvent, Decision<Task>>,
): ReadonlyMap<string, readonly CallSignal[]> {
  const signals = [...decisions].flatMap(([event, { call }]) => toSignal(event, call) ?? []);
  return Map.groupBy(signals, ({ platform }) => platform);
}
