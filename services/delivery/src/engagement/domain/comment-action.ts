import type { CallEvent } from "#src/calls/call-event.ts";
import type { Call, CallErrorCode } from "#src/calls/call.ts";
import type { Trade } from "#src/calls/decide-in-order.ts";
import { PRIVATE_REPLY, REPLY, VISIBILITY, type CallKind } from "#src/calls/kinds.ts";

/** Requested by users, or by an automation (`private_reply`). */
export type ActionType = "reply" | "hide" | "unhide" | "private_reply";

/** A stored fence that differs means that another worker has claimed the action. */
export interface LeasedAction {
  readonly id: string;
  readonly fence: number;
}

export interface CommentAction extends Call, LeasedAction {
  readonly mediaId: string;
  readonly commentId: string;
  readonly type: ActionType;
  /** Text of the reply or private reply; null for the other types. */
  readonly text: string | null;
  /** The run of an automation rule that a private reply belongs to; null for manual actions. */
  readonly runId: string | null;
  readonly furtherIds: readonly string[];
  /** Request id and trace header of the request or event that caused the action. */
  readonly cause: Readonly<Record<string, string>> | null;
  readonly createdAt: Date;
}

export type ActionEvent = { readonly id: string } & CallEvent;

const KINDS: Readonly<Record<ActionType, CallKind>> = {
  reply: REPLY,
  hide: VISIBILITY,
  unhide: VISIBILITY,
  private_reply: PRIVATE_REPLY,
};

/** What `decideInOrder` needs to know about actions on comments. */
export const ACTIONS: Trade<{ readonly id: string }, CommentAction, ActionEvent> = {
  name: ({ id }) => id,
  kindOf: ({ type }) => KINDS[type],
};

interface NewActionBase {
  /** A UUIDv7. */
  readonly id: string;
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly mediaId: string;
  readonly commentId: string;
}

export interface NewManualAction extends NewActionBase {
  readonly type: "reply" | "hide" | "unhide";
  /** Text of a reply; null for the other types. */
  readonly text: string | null;
  /** When the comment was written, so that a list can show a hidden comment at its position. */
  readonly commentCreatedAt?: Date;
}

export interface NewPrivateReply extends NewActionBase {
  readonly text: string;
  readonly ruleId: string;
  readonly runId: string;
  /** The instant after which the platform no longer accepts a private reply to the comment. */
  readonly sendBefore: Date;
}

/** A failed one can end once more, with success, if the platform's answer arrives late. */
export interface EndedPrivateReply {
  readonly id: string;
  readonly runId: string;
  readonly workspaceId: string;
  readonly accountId: string;
  readonly result:
    | { readonly kind: "sent" }
    | { readonly kind: "failed"; readonly code: CallErrorCode; readonly message: string };
}

/** It is not renewed: two calls with a token renewal between them fit into it. */
const LEASES_PER_ACTION = 3;

export function actionLeaseMs({ leaseMs }: { readonly leaseMs: number }): number {
  return leaseMs * LEASES_PER_ACTION;
}
