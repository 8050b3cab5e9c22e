import type { CallOutcome } from "#src/calls/call-event.ts";
import type { TaskEvent } from "./task.ts";

/**
 * How a publish task ends if the decision that follows from an event about it could not be written,
 * because of a fault in our code or in the database. The task must not stay in its current state,
 * because it would block its account.
 */
export interface FallbackEnd {
  /**
   * `unknown` if the post may be visible: the platform is searched for it later. `failed` if the
   * post is certainly not visible: the user can retry, unless an earlier call of the task has an
   * unknown outcome. `dropped` if the target is no longer wanted.
   */
  readonly status: "unknown" | "failed" | "dropped";
  /** The task ends only if this call is still open; undefined if the event is about no call. */
  readonly callNumber?: number;
  /** The task ends only with this fence; undefined if the fence does not matter. */
  readonly fence?: number;
}

const VISIBLE: ReadonlySet<CallOutcome["kind"]> = new Set<CallOutcome["kind"]>([
  "published",
  "unknown",
  "pending",
  "done",
]);

const STATUS: Readonly<Partial<Record<TaskEvent["kind"], FallbackEnd["status"]>>> = {
  call_lost: "unknown",
  looked: "unknown",
  not_wanted: "dropped",
};

export function toFallbackEnd(event: TaskEvent): FallbackEnd {
  const isVisible = event.kind === "called" && VISIBLE.has(event.outcome.kind);
  return {
    status: isVisible ? "unknown" : (STATUS[event.kind] ?? "failed"),
    ...("callNumber" in event ? { callNumber: event.callNumber } : {}),
    ...("fence" in event ? { fence: event.fence } : {}),
  };
}
