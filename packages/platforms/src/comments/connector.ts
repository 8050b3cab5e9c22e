import type { SendGuard } from "#src/http/send-once.ts";
import type { PlatformId } from "#src/platform-id.ts";
import type { Failure, Outcome, Unknown } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";

/** As the platform shows it to the owner of the media. */
export interface PlatformComment {
  readonly id: string;
  readonly text: string;
  readonly authorId: string | null;
  readonly authorUsername: string | null;
  readonly isOwn: boolean;
  readonly createdAt: Date;
  readonly likeCount: number | null;
  readonly replyCount: number | null;
  /**
   * Whether other readers cannot see the comment; null when the platform does not say (X). Then
   * Postrider knows only its own last action on the comment.
   */
  readonly hidden: boolean | null;
}

/**
 * The platform's answer when the media or the comment does not exist, or belongs to another
 * account. Platforms do not distinguish these cases, and Postrider does not either.
 */
export interface Missing {
  readonly kind: "missing";
}

/** A page of top-level comments on one piece of media, newest first. */
export interface CommentPage {
  readonly kind: "page";
  readonly comments: readonly PlatformComment[];
  readonly next: string | undefined;
  /** Units of the app's budget that the page used; undefined if as many as `CommentCosts` says. */
  readonly units?: number;
}

/**
 * Units that the platform counts for all accounts of our app together, and how many of them the
 * calls of one use may take. The other uses and publishing keep the rest. Each connector names the
 * source of its limit.
 */
export interface AppBudget {
  /** Budgets of a platform with different names are counted apart. */
  readonly name: "comments" | "replies" | "metrics";
  readonly units: number;
  readonly windowMs: number;
  /** Share of the units that may be used at once; the others become usable evenly. */
  readonly burstShare: number;
  /** At midnight of this time zone the platform gives back all units. */
  readonly resetsIn?: "America/Los_Angeles";
}

export interface CallCost {
  readonly budget: AppBudget;
  readonly units: number;
}

/** Undefined costs are of calls that the platform does not count for the whole app. */
export interface CommentCosts {
  /** Of a page of at most `limit` comments. */
  list(limit: number): CallCost;
  readonly read: CallCost;
  readonly reply: CallCost;
  readonly setHidden: CallCost | undefined;
  /** Of a search for a reply whose outcome is unknown. */
  readonly look: CallCost;
}

export interface CommentQuery {
  readonly mediaId: string;
  readonly limit: number;
  readonly after: string | undefined;
}

export interface CommentRef {
  readonly mediaId: string;
  readonly commentId: string;
}

export interface ReplyRequest extends CommentRef {
  readonly text: string;
  readonly requestId: string;
}

export type CommentActionType = "reply" | "hide" | "unhide";

/**
 * Reads comments on an account's media on one platform, replies to them, and hides them. On
 * platforms that show comments on media of other accounts too, the connector checks that the
 * account owns the media.
 */
export interface CommentsConnector {
  readonly platform: PlatformId;
  readonly actions: ReadonlySet<CommentActionType>;
  /** Undefined if the platform counts the calls of each account apart. */
  readonly costs?: CommentCosts;
  /** True for a server of the account's owner, whose limits say nothing about other accounts. */
  isForeignHost?(account: AccountAccess): boolean;
  listComments(
    account: AccountAccess,
    query: CommentQuery,
    signal: AbortSignal,
  ): Promise<CommentPage | Missing | Failure>;
  /** `missing` also when the comment is not on this media. */
  readComment(
    account: AccountAccess,
    comment: CommentRef,
    signal: AbortSignal,
  ): Promise<{ readonly kind: "comment"; readonly comment: PlatformComment } | Missing | Failure>;
  /**
   * Reads top-level comments on the media by their ids; comments that do not exist are left out.
   * Only the connector of a platform that leaves hidden comments out of its lists has this
   * function.
   */
  readComments?(
    account: AccountAccess,
    query: { readonly mediaId: string; readonly commentIds: readonly string[] },
    signal: AbortSignal,
  ): Promise<
    { readonly kind: "comments"; readonly comments: readonly PlatformComment[] } | Failure
  >;
  /**
   * Sent once, on a new connection, and never retried. `published.externalId` is the id of the
   * reply.
   */
  reply(account: AccountAccess, request: ReplyRequest, guard: SendGuard): Promise<Outcome>;
  /**
   * Finds out the outcome of a reply whose outcome is unknown. `call.isOwned` tells which replies
   * on the platform belong to other requests, `call.hasSimilarPost` whether another reply with the
   * same text to the same comment is also unknown.
   */
  reconcileReply(
    account: AccountAccess,
    request: ReplyRequest,
    call: UnknownCall,
    signal: AbortSignal,
  ): Promise<Verdict>;
  /**
   * Hides a comment from other readers, or shows it again. The call can be repeated safely: hiding
   * a hidden comment succeeds.
   */
  setHidden(
    account: AccountAccess,
    comment: CommentRef & { readonly hidden: boolean },
    signal: AbortSignal,
  ): Promise<{ readonly kind: "done" } | Missing | Failure | Unknown>;
}
