import { isPlatformId, PLATFORMS } from "@postrider/platforms/registry";
import type { TargetStatus } from "./post-status.ts";
import type { TargetError } from "./target.ts";

/** What delivery says became of deleting a target; whole, so the newest one says everything. */
export interface DeletionUpdate {
  /** Which request to delete it answers. */
  readonly deletion: number;
  /** Raised with every change; compared within a request. */
  readonly version: number;
  readonly status: "deleting" | "deleted" | "delete_failed";
  readonly error: TargetError | null;
}

/** What a request to delete, and the news of it, can change in a target. */
export interface DeletableState {
  readonly platform: string;
  readonly status: TargetStatus;
  /** Raised by each request to delete; only `posts` raises it. */
  readonly deletion: number;
  /** Version of the update that was applied last; 0 before the first of a request. */
  readonly deletionVersion: number;
  readonly error: TargetError | null;
}

/** What became of one target of a deleted post, in the words of the acknowledgement. */
export interface DeleteOutcome {
  readonly status: "deleting" | "deleted" | "delete_failed" | "not_supported" | "not_published";
  readonly error: TargetError | null;
}

const ACCOUNT_DISCONNECTED: TargetError = {
  code: "account_disconnected",
  message: "",
  retryable: false,
};

/** Whether a platform lets anybody delete what was published through its interface. */
function isDeletable(platform: string): boolean {
  return isPlatformId(platform) && PLATFORMS[platform].delete.supported;
}

/**
 * A published target of a cancelled post, asked to be deleted; so is one whose deletion failed before, if it is asked for
 * again. Where the platform has no way to delete it stays published; without its account there is nobody to delete it.
 * Returns the same object when nothing changes.
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

/** A target that delivery promised not to send any more, or has never heard of. */
export function cancelTarget<T extends { readonly status: TargetStatus }>(target: T): T {
  const isOpen = target.status === "pending" || target.status === "publishing";
  return isOpen ? { ...target, status: "cancelled", nextAttemptAt: null } : target;
}

function applies(target: DeletableState, update: DeletionUpdate): boolean {
  if (target.status !== "deleting" && target.status !== "delete_failed") return false;
  // What is gone is gone, whichever request it is known from.
  if (update.status === "deleted") return update.deletion <= target.deletion;
  return update.deletion === target.deletion && update.version > target.deletionVersion;
}

/**
 * The target after one piece of news of its deletion. Updates are ordered by (is deleted, request, version) and the
 * greatest wins, so any order, repetition or gap before the newest gives the same state. Returns the same object when
 * nothing changes.
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

/** What the acknowledgement of a deletion says of a target. */
export function deleteOutcome({
  status,
  error,
}: Pick<DeletableState, "status" | "error">): DeleteOutcome {
  if (status === "deleting" || status === "deleted" || status === "delete_failed")
    return { status, error };
  if (status === "published") return { status: "not_supported", error: null };
  // Nobody knows whether there is something to delete; a person has to look.
  return status === "failed" && error?.code === "outcome_unknown"
    ? { status: "delete_failed", error }
    : { status: "not_published", error: null };
}
