import type { Handles } from "@postrider/platforms/publishing/handles";
import type { Task } from "./task.ts";

/** Names a task. */
export interface TaskKey {
  readonly targetId: string;
  readonly generation: number;
}

/** Names a task as its worker knows it: with another fence somebody else has it. */
export interface HeldKey extends TaskKey {
  readonly fence: number;
}

/** Handles as they are kept: each sealed by itself, so that some can be added; older ones lie as they are. */
export type StoredHandles = Readonly<Record<string, string | { readonly sealed: string }>>;

/** A task that this process has just claimed. */
export interface ClaimedTask extends Task {
  /** What its prepare steps have made so far. */
  readonly handles: StoredHandles | null;
  /** Database time of the claim. */
  readonly claimedAt: Date;
  /** How long it had been ready when it was claimed. */
  readonly latenessMs: number;
  /** No visible call may start any more. */
  readonly isTooLate: boolean;
  /** Headers of the event that asked for it; null of what was asked for before they were kept. */
  readonly cause: Readonly<Record<string, string>> | null;
}

/** A claimed task whose handles have been opened. */
export interface OpenTask extends ClaimedTask {
  readonly handles: Handles;
}
