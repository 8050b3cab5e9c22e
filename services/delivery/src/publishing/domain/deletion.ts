import type { DeletionOutcome, TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import type { CallEvent } from "#src/calls/call-event.ts";
import type { Call, CallErrorCode, Marks } from "#src/calls/call.ts";
import type { Trade } from "#src/calls/decide-in-order.ts";
import { DELETION } from "#src/calls/kinds.ts";

/** Key of a request to delete a published target. */
export interface DeletionKey {
  readonly targetId: string;
  readonly deletion: number;
}

/**
 * Key of a deletion task together with the fencing token of its worker. If the stored fencing token differs, another
 * worker has claimed the deletion.
 */
export interface HeldDeletion extends DeletionKey {
  readonly fence: number;
}

/** The task of deleting one published target. */
export interface DeletionTask extends Omit<Call, Marks>, HeldDeletion {
  readonly postId: string;
  /** The id that the platform gave the published post; empty if it is not known. */
  readonly externalId: string;
  /**
   * Whether the delivery service itself published the post with this id, for this target and account. Otherwise the
   * post is not deleted.
   */
  readonly isPublishedByUs: boolean;
  /** The address of the published post; null if it is not known. */
  readonly permalink: string | null;
  readonly errorCode: TargetErrorCode | null;
  /** Headers of the event that requested the deletion. */
  readonly cause: Readonly<Record<string, string>> | null;
}

/** A deletion task as `decide` sees it. */
export type DeletionCall = DeletionTask & Pick<Call, Marks>;

export type DeletionEvent = DeletionKey & CallEvent;

/** What `decideInOrder` needs to know about deletion tasks. */
export const DELETIONS: Trade<DeletionKey, DeletionCall, DeletionEvent> = {
  name: ({ targetId, deletion }) => `${targetId}/${deletion}`,
  kindOf: () => DELETION,
};

/** How one try to delete a post ended. */
export type DeletionResult =
  | Exclude<DeletionOutcome, { kind: "token_refused" }>
  /** The post cannot be deleted for a reason that does not come from the platform. */
  | { readonly kind: "given_up"; readonly code: CallErrorCode; readonly message: string };
