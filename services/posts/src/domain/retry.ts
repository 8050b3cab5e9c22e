import type { TargetState } from "./target.ts";

/** What a retry changes in a target besides its status. */
interface DueState {
  readonly dueAt: Date | null;
  readonly publishBefore: Date | null;
  readonly dueDay: string | null;
}

/**
 * Whether a target may be sent again: it failed, and that is certain. One whose outcome is unknown may be out; a published
 * one is.
 */
export function isRetryable({ status, error }: Pick<TargetState, "status" | "error">): boolean {
  return status === "failed" && error?.code !== "outcome_unknown";
}

/** The target at its next generation, wanted again. Attempts go on counting. */
export function retryTarget<T extends TargetState & DueState>(
  target: T,
  { dueAt, publishBefore, dueDay }: DueState,
): T {
  return {
    ...target,
    status: "pending",
    generation: target.generation + 1,
    error: null,
    nextAttemptAt: null,
    dueAt,
    publishBefore,
    dueDay,
  };
}
