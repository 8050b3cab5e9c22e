import type { CallOutcome } from "#src/calls/call-event.ts";
import type { TaskEvent } from "./task.ts";

/**
 * For a decision that could not be written because of a fault in our code or the database. The task
 * must not stay as it is, because it would block its account.
 */
export interface FallbackEnd {
  /**
   * `unknown`: may be visible, searched for later. `failed`: certainly not visible, the user can
   * retry, unless an earlier call has an unknown outcome. `dropped`: no longer wanted.
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
