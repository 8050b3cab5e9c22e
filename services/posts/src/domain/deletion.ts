import { isPlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import type { TargetStatus } from "./post-status.ts";
import type { TargetError } from "./target.ts";

/** Each report is complete, so the newest replaces all others. */
export interface DeletionUpdate {
  readonly deletion: number;
  /** Rises with every report about one deletion request; different requests do not compare. */
  readonly version: number;
  readonly status: "deleting" | "deleted" | "delete_failed";
  readonly error: TargetError | null;
}

export interface DeletableState {
  readonly platform: string;
  readonly status: TargetStatus;
  /** How often the deletion of the target on its platform was requested. */
  readonly deletion: number;
  /** The newest report that was applied; 0 before the first. */
  readonly deletionVersion: number;
  readonly error: TargetError | null;
}

export interface DeleteOutcome {
  readonly status: "deleting" | "deleted" | "delete_failed" | "not_supported" | "not_published";
  readonly error: TargetError | null;
}

const ACCOUNT_DISCONNECTED: TargetError = {
  code: "account_disconnected",
  message: "",
  retryable: false,
};

/** Whether the API of a platform can delete a published post. */
function isDeletable(platform: string): boolean {
  return isPlatformId(platform) && PLATFORM_FACTS[platform].rules.delete.supported;
}

/**
 * `again` also requests it after a failed deletion. Stays published if the platform cannot delete;
 * fails at once without the account. Returns the same object when nothing changes.
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

export function cancelTarget<T extends { readonly status: TargetStatus }>(target: T): T {
  const isOpen = target.status === "pending" || target.status === "publishing";
  return isOpen ? { ...target, status: "cancelled", nextAttemptAt: null } : target;
}

function applies(target: DeletableState, update: DeletionUpdate): boolean {
  if (target.status !== "deleting" && target.status !== "delete_failed") return false;
  // The report that a target is deleted is final, whichever deletion request it belongs to.
  if (update.status === "deleted") return update.deletion <= target.deletion;
  return update.deletion === target.deletion && update.version > target.deletionVersion;
}

/**
 * Reports may arrive late, twice or never: the greatest of (is deleted, request, version) decides.
 * Returns the same object when nothing changes.
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

export function deleteOutcome({
  status,
  error,
}: Pick<DeletableState, "status" | "error">): DeleteOutcome {
  if (status === "deleting" || status === "deleted" || status === "delete_failed")
    return { status, error };
  if (status === "published") return { status: "not_supported", error: null };
  // The platform may have published the target without answering, so a user has to look on the
  // platform.
  return status === "failed" && error?.code === "outcome_unknown"
    ? { status: "delete_failed", error }
    : { status: "not_published", error: null };
}
