import type { CommentRef, Missing } from "#src/comments/connector.ts";
import type { SendGuard } from "#src/http/send-once.ts";
import type { PlatformId } from "#src/platform-id.ts";
import type { Failure, Outcome } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";

export interface OwnedMedia {
  readonly id: string;
  readonly publishedAt: Date;
  /** A poll skips media whose number has not changed. Null when the platform does not say. */
  readonly commentCount: number | null;
}

export interface OwnedMediaPage {
  readonly kind: "media";
  readonly media: readonly OwnedMedia[];
  readonly next: string | undefined;
}

export interface PrivateReplyRequest extends CommentRef {
  readonly text: string;
}

export interface PollBudget {
  readonly scope: "account";
  readonly calls: number;
  readonly windowMs: number;
  readonly unitsPerPage: number;
}

/**
 * Without the time from which a search would have to begin: it is not known of a reply that another
 * installation may have sent days ago, see `SENDABLE_SINCE` of delivery. What the platform says of
 * the comment needs no such time.
 */
export type UnknownPrivateReply = Pick<UnknownCall, "callUntil" | "now">;

/**
 * The platform accepts one private reply per comment, within `windowMs` after the comment was
 * written.
 */
export interface PrivateRepliesConnector {
  readonly platform: PlatformId;
  readonly windowMs: number;
  readonly maxBytes: number;
  /** What polls for new comments may use. Each connector names the source of its limit. */
  readonly pollBudget: PollBudget;
  listMedia(
    account: AccountAccess,
    query: { readonly limit: number; readonly after: string | undefined },
    signal: AbortSignal,
  ): Promise<OwnedMediaPage | Failure>;
  /** Media that do not exist are left out. */
  readMedia(
    account: AccountAccess,
    mediaIds: readonly string[],
    signal: AbortSignal,
  ): Promise<OwnedMediaPage | Failure>;
  /**
   * Sent once, on a new connection, and never retried. `published.externalId` is the id of the
   * message. A refusal because the comment has a private reply already has the code
   * `duplicate_on_platform`.
   */
  send(account: AccountAccess, request: PrivateReplyRequest, guard: SendGuard): Promise<Outcome>;
  /**
   * Finds out the outcome of a private reply whose outcome is unknown. `repeat` is allowed where
   * the platform itself accepts only one private reply per comment; a repeated call that is refused
   * as a duplicate then counts as sent.
   */
  readonly reconcile: (
    account: AccountAccess,
    request: PrivateReplyRequest,
    call: UnknownPrivateReply,
    signal: AbortSignal,
  ) => Promise<Verdict | Missing>;
}
