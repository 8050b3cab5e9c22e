import type { SendGuard } from "#src/http/send-once.ts";
import type { PlatformId } from "#src/platform-id.ts";
import type { Failure, Outcome, Unknown } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";

/** A reader's comment, as the platform shows it to the owner of the media. */
export interface PlatformComment {
  readonly id: string;
  readonly text: string;
  /** Id of the author on the platform, as this account sees it; null when the platform does not say. */
  readonly authorId: string | null;
  readonly authorUsername: string | null;
  /** Whether the account itself wrote the comment. */
  readonly isOwn: boolean;
  readonly createdAt: Date;
  /** Number of likes; null when the platform does not say it. */
  readonly likeCount: number | null;
  /** Number of replies; null when the platform does not say it. */
  readonly replyCount: number | null;
  /**
   * Whether other readers cannot see the comment; null when the platform does not say (X). Then Postrider knows only its
   * own last action on the comment.
   */
  readonly hidden: boolean | null;
}

/**
 * The platform's answer when the media or the comment does not exist, or belongs to another account. Platforms do not
 * distinguish these cases, and Postrider does not either.
 */
export interface Missing {
  readonly kind: "missing";
}

/** A page of top-level comments on one piece of media, newest first. */
export interface CommentPage {
  readonly kind: "page";
  readonly comments: readonly PlatformComment[];
  /** The platform's cursor of the next page; undefined on the last page. */
  readonly next: string | undefined;
}

export interface CommentQuery {
  readonly mediaId: string;
  /** Maximum number of comments on the page, 1 to 50. */
  readonly limit: number;
  /** The platform's cursor from the previous page; undefined for the first page. */
  readonly after: string | undefined;
}

export interface CommentRef {
  readonly mediaId: string;
  readonly commentId: string;
}

export interface ReplyRequest extends CommentRef {
  readonly text: string;
  /**
   * UUIDv7 of the request for a reply. It is the same in every call for this request, so that a connector can derive
   * ids from it.
   */
  readonly requestId: string;
}

export type CommentActionType = "reply" | "hide" | "unhide";

/**
 * Reads comments on an account's media on one platform, replies to them, and hides them. On platforms that show
 * comments on media of other accounts too, the connector checks that the account owns the media.
 */
export interface CommentsConnector {
  readonly platform: PlatformId;
  /** The actions on comments that the platform offers. */
  readonly actions: ReadonlySet<CommentActionType>;
  listComments(
    account: AccountAccess,
    query: CommentQuery,
    signal: AbortSignal,
  ): Promise<CommentPage | Missing | Failure>;
  /** Reads one top-level comment; `missing` also when the comment is not on this media. */
  readComment(
    account: AccountAccess,
    comment: CommentRef,
    signal: AbortSignal,
  ): Promise<{ readonly kind: "comment"; readonly comment: PlatformComment } | Missing | Failure>;
  /**
   * Reads top-level comments on the media by their ids; comments that do not exist are left out. Only the connector of
   * a platform that leaves hidden comments out of its lists has this function.
   */
  readComments?(
    account: AccountAccess,
    query: { readonly mediaId: string; readonly commentIds: readonly string[] },
    signal: AbortSignal,
  ): Promise<
    { readonly kind: "comments"; readonly comments: readonly PlatformComment[] } | Failure
  >;
  /**
   * The call that makes a reply visible. It is sent once, on a new connection, and the connector never retries it.
   * `published.externalId` is the id of the reply.
   */
  reply(account: AccountAccess, request: ReplyRequest, guard: SendGuard): Promise<Outcome>;
  /**
   * Finds out the outcome of a reply whose outcome is unknown. `call.isOwned` tells which replies on the platform belong
   * to other requests, `call.hasSimilarPost` whether another reply with the same text to the same comment is also
   * unknown.
   */
  reconcileReply(
    account: AccountAccess,
    request: ReplyRequest,
    call: UnknownCall,
    signal: AbortSignal,
  ): Promise<Verdict>;
  /**
   * Hides a comment from other readers, or shows it again. The call can be repeated safely: hiding a hidden comment
   * succeeds.
   */
  setHidden(
    account: AccountAccess,
    comment: CommentRef & { readonly hidden: boolean },
    signal: AbortSignal,
  ): Promise<{ readonly kind: "done" } | Missing | Failure | Unknown>;
}
