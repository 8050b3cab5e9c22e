import type { DeletionOutcome, TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import type { CallEvent } from "#src/calls/call-event.ts";
import type { Call, CallErrorCode, Marks } from "#src/calls/call.ts";
import type { Trade } from "#src/calls/decide-in-order.ts";
import { DELETION } from "#src/calls/kinds.ts";

export interface DeletionKey {
  readonly targetId: string;
  readonly deletion: number;
}

/** A stored fence that differs means that another worker has claimed the deletion. */
export interface LeasedDeletion extends DeletionKey {
  readonly fence: number;
}

export interface DeletionTask extends Omit<Call, Marks>, LeasedDeletion {
  readonly postId: string;
  /** Empty if it is not known. */
  readonly externalId: string;
  /** Otherwise the post is not deleted. */
  readonly isPublishedByUs: boolean;
  readonly permalink: string | null;
  readonly errorCode: TargetErrorCode | null;
  readonly cause: Readonly<Record<string, string>> | null;
}

/** A deletion task as `decide` sees it. */
export type DeletionCall = DeletionTask & Pick<Call, Marks>;

export type DeletionEvent = DeletionKey & CallEvent;

export const DELETIONS: Trade<DeletionKey, DeletionCall, DeletionEvent> = {
  name: ({ targetId, deletion }) => `${targetId}/${deletion}`,
  kindOf: () => DELETION,
};

export type DeletionResult =
  | Exclude<DeletionOutcome, { kind: "token_refused" }>
  /** The post cannot be deleted for a reason that does not come from the platform. */
  | { readonly kind: "given_up"; readonly code: CallErrorCode; readonly message: string };
