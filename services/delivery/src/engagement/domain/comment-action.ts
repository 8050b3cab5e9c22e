import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";

/** What an action does: what users request (reply, hide, unhide), or the private reply of an automation. */
export type ActionType = "reply" | "hide" | "unhide" | "private_reply";

export type ActionStatus =
  /** The action waits until the time `wakeAt`. */
  | "queued"
  /** A worker holds the lease of the action; its call has not begun. */
  | "working"
  /** The platform call is recorded as begun: until `callUntil`, the worker may be about to send it or may have sent it. */
  | "calling"
  /** A platform call ended with an unknown outcome; the action waits for the next search of the platform. */
  | "unknown"
  /** A worker searches the platform for the result of a call with an unknown outcome. */
  | "reconciling"
  | "succeeded"
  | "failed";

/** Why an action failed. Actions that users request fail only with codes that targets of posts fail with, too. */
export type ActionErrorCode =
  | TargetErrorCode
  /** The rule of a private reply is no longer active. */
  | "rule_inactive"
  /** The operator does not allow private replies (`AUTOMATION_SENDING`). */
  | "sending_blocked";

/** Id of an action together with the fence of its worker. If the stored fence differs, another worker has claimed the action. */
export interface HeldAction {
  readonly id: string;
  readonly fence: number;
}

/** An action on a comment, as it is stored. */
export interface CommentAction extends HeldAction {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly mediaId: string;
  readonly commentId: string;
  readonly type: ActionType;
  /** Text of the reply or private reply; null for the other types. */
  readonly text: string | null;
  /** The run of an automation rule that a private reply belongs to; null for manual actions. */
  readonly runId: string | null;
  /** No platform call of the action starts after this instant. */
  readonly sendBefore: Date;
  readonly status: ActionStatus;
  /** No worker claims the action before this instant. */
  readonly wakeAt: Date;
  readonly crashCount: number;
  readonly retryCount: number;
  readonly callNumber: number;
  readonly calledAt: Date | null;
  readonly callUntil: Date | null;
  /** When the first call with an unknown outcome began. Searches of the platform start from this time. */
  readonly firstUnknownAt: Date | null;
  /** Number of calls whose outcome is unknown. While it is above 0, the platform may have carried out the action. */
  readonly openUnknowns: number;
  readonly resendCount: number;
  readonly looks: number;
  /** Whether a rate limit made the outcome of the last call unknown. If so, the next attempt is not counted as a resend. */
  readonly isLimited: boolean;
  readonly version: number;
  /**
   * The platform's id of the account, which accounts of several workspaces can share; null until a call begins or the platform is
   * searched for one.
   */
  readonly externalAccountId: string | null;
  readonly externalId: string | null;
  /** The ids that further calls returned, if the platform carried out the action more than once. */
  readonly furtherIds: readonly string[];
  readonly errorCode: ActionErrorCode | null;
  readonly errorMessage: string | null;
  /** Request id and trace header of the request or event that caused the action. */
  readonly cause: Readonly<Record<string, string>> | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

interface NewActionBase {
  /** A UUIDv7. */
  readonly id: string;
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly mediaId: string;
  readonly commentId: string;
}

/** A manual action that is to be stored. */
export interface NewManualAction extends NewActionBase {
  readonly type: "reply" | "hide" | "unhide";
  /** Text of a reply; null for the other types. */
  readonly text: string | null;
  /** When the comment was written, so that a list can show a hidden comment at its position. */
  readonly commentCreatedAt?: Date;
}

/** A private reply that is to be stored. */
export interface NewPrivateReply extends NewActionBase {
  readonly text: string;
  readonly ruleId: string;
  readonly runId: string;
  /** The instant after which the platform no longer accepts a private reply to the comment. */
  readonly sendBefore: Date;
}

/**
 * The end of a private reply, which decides the status of its automation rule's run. A private reply that has failed can end
 * once more, with success, if the platform's answer arrives late.
 */
export interface EndedPrivateReply {
  readonly id: string;
  readonly runId: string;
  readonly workspaceId: string;
  readonly accountId: string;
  readonly result:
    | { readonly kind: "sent" }
    | { readonly kind: "failed"; readonly code: ActionErrorCode; readonly message: string };
}

/** Whether an action on a comment with this status has ended. */
export function isEnded(status: ActionStatus): status is "succeeded" | "failed" {
  return status === "succeeded" || status === "failed";
}
