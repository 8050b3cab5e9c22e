import { isPlatformId, PLATFORMS } from "@postrider/platforms/registry";
import type { TargetStatus } from "./post-status.ts";
import type { TargetError } from "./target.ts";

/**
 * The state of the deletion of a target, as the delivery service reports it. Each update is complete, so the newest
 * update replaces all others.
 */
export interface DeletionUpdate {
  /** The number of the deletion request to which the update belongs. */
  readonly deletion: number;
  /** A number that rises with every change of the deletion. Versions are compared only within one deletion request. */
  readonly version: number;
  readonly status: "deleting" | "deleted" | "delete_failed";
  readonly error: TargetError | null;
}

/** The fields of a target that a deletion request and its updates can change. */
export interface DeletableState {
  readonly platform: string;
  readonly status: TargetStatus;
  /** The number of requests to delete the target so far. */
  readonly deletion: number;
  /** The version of the deletion update that was applied last; 0 before the first update of a deletion request. */
  readonly deletionVersion: number;
  readonly error: TargetError | null;
}

/** The outcome for one target of a deleted post, as the response to the client shows it. */
export interface DeleteOutcome {
  readonly status: "deleting" | "deleted" | "delete_failed" | "not_supported" | "not_published";
  readonly error: TargetError | null;
}

const ACCOUNT_DISCONNECTED: TargetError = {
  code: "account_disconnected",
  message: "",
  retryable: false,
};

/** Whether the API of a platform can delete a publication. */
function isDeletable(platform: string): boolean {
  return isPlatformId(platform) && PLATFORMS[platform].delete.supported;
}

/**
 * Requests the deletion of a published target of a cancelled post and, with `again`, of a target whose deletion failed
 * before. A target stays published if its platform cannot delete it. The deletion fails if the account no longer
 * exists. Returns the same object when nothing changes.
 */
export function requestDeletion<T extends DeletableState>(
  target: T,
  { isConnected, again }: { readonly isConnected: boolean; readonly again: boolean },
): T {
  const isWanted = target.status === "published" || (again && target.status === "delete_failed");
  if (!isWanted || !isDeletable(target.platform)) return target;
  if (!isConnected) {
    const isSaid =
      target.status === "delete_failed" && target.error?.code === "account_disconnected";
    return isSaid ? target : { ...target, status: "delete_failed", error: ACCOUNT_DISCONNECTED };
  }
  const deletion = target.deletion + 1;
  return { ...target, status: "deleting", deletion, deletionVersion: 0, error: null };
}

/** Cancels a target that the delivery service has promised not to publish. */
export function cancelTarget<T extends { readonly status: TargetStatus }>(target: T): T {
  const isOpen = target.status === "pending" || target.status === "publishing";
  return isOpen ? { ...target, status: "cancelled", nextAttemptAt: null } : target;
}

function applies(target: DeletableState, update: DeletionUpdate): boolean {
  if (target.status !== "deleting" && target.status !== "delete_failed") return false;
  // A completed deletion of a target is final, whichever deletion request it belongs to.
  if (update.status === "deleted") return update.deletion <= target.deletion;
  return update.deletion === target.deletion && update.version > target.deletionVersion;
}

/**
 * Applies an update of a target's deletion. Updates are ordered by (is deleted, request, version) and the greatest
 * wins, so any order, repetition or gap before the newest gives the same state. Returns the same object when nothing
 * changes.
 */
export function applyDeletionUpdate<T extends DeletableState>(
  target: T,
  update: DeletionUpdate,
): T {
  if (!applies(target, update)) return target;
  return {
    ...target,
    status: update.status,
    deletionVersion: update.version,
    error: update.error,
  };
}

/** Returns the outcome for a target that the response to a deletion of its post shows. */
export function deleteOutcome({
  status,
  error,
}: Pick<DeletableState, "status" | "error">): DeleteOutcome {
  if (status === "deleting" || status === "deleted" || status === "delete_failed")
    return { status, error };
  if (status === "published") return { status: "not_supported", error: null };
  // It is unknown whether the platform has published the target, so a user has to check the platform.
  return status === "failed" && error?.code === "outcome_unknown"
    ? { status: "delete_failed", error }
    : { status: "not_published", error: null };
}
