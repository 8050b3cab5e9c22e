import type { Handles } from "#src/domain/connector.ts";
import type { Task } from "#src/domain/task.ts";

/** Names a task. */
export interface TaskKey {
  readonly targetId: string;
  readonly generation: number;
}

/** Names a task as its worker knows it: with another fence somebody else has it. */
export interface HeldKey extends TaskKey {
  readonly fence: number;
}

/** A task that this process has just claimed. */
export interface ClaimedTask extends Task {
  /** What its prepare steps have made so far. */
  readonly handles: Handles | null;
  /** Database time of the claim. */
  readonly claimedAt: Date;
  /** How long it had been ready when it was claimed. */
  readonly latenessMs: number;
  /** No visible call may start any more. */
  readonly isTooLate: boolean;
}
