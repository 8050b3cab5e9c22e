import type { CommentRef, Missing } from "#src/comments/connector.ts";
import type { SendGuard } from "#src/http/send-once.ts";
import type { PlatformId } from "#src/platform-id.ts";
import type { Failure, Outcome } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";

/** Media of an account whose comments can be answered with private replies. */
export interface OwnedMedia {
  readonly id: string;
  readonly publishedAt: Date;
  /** Number of comments; a poll skips media whose number has not changed. Null when the platform does not say. */
  readonly commentCount: number | null;
}

export interface OwnedMediaPage {
  readonly kind: "media";
  /** The media, newest first. */
  readonly media: readonly OwnedMedia[];
  /** The platform's cursor of the next page; undefined on the last page. */
  readonly next: string | undefined;
}

export interface PrivateReplyRequest extends CommentRef {
  readonly text: string;
}

/** The number of platform calls of one account that polls for new comments may make in a window. */
export interface PollBudget {
  readonly scope: "account";
  readonly calls: number;
  readonly windowMs: number;
  /** Number of calls of the budget that reading one page of comments uses. */
  readonly unitsPerPage: number;
}

/**
 * Sends private replies (direct messages to the author of a comment) on one platform. The platform accepts one private
 * reply per comment, within `windowMs` after the comment was written.
 */
export interface PrivateRepliesConnector {
  readonly platform: PlatformId;
  /** Maximum age in milliseconds of a comment that can be answered privately. */
  readonly windowMs: number;
  /** Maximum length of a private reply in UTF-8 bytes. */
  readonly maxBytes: number;
  /**
   * The part of the platform's limit that polls for new comments may use. Each platform's connector names the source of
   * its limit.
   */
  readonly pollBudget: PollBudget;
  /** Lists the media of the account with their numbers of comments: one call per page. */
  listMedia(
    account: AccountAccess,
    query: { readonly limit: number; readonly after: string | undefined },
    signal: AbortSignal,
  ): Promise<OwnedMediaPage | Failure>;
  /** Reads the number of comments of the given media, one call for each. Media that do not exist are left out. */
  readMedia(
    account: AccountAccess,
    mediaIds: readonly string[],
    signal: AbortSignal,
  ): Promise<OwnedMediaPage | Failure>;
  /**
   * The call that sends a private reply. It is sent once, on a new connection, and the connector never retries it.
   * `published.externalId` is the id of the message. A refusal because the comment has a private reply already has the
   * code `duplicate_on_platform`.
   */
  send(account: AccountAccess, request: PrivateReplyRequest, guard: SendGuard): Promise<Outcome>;
  /**
   * Finds out the outcome of a private reply whose outcome is unknown. `repeat` is allowed where the platform itself
   * accepts only one private reply per comment; a repeated call that is refused as a duplicate then counts as sent.
   */
  reconcile(
    account: AccountAccess,
    request: PrivateReplyRequest,
    call: UnknownCall,
    signal: AbortSignal,
  ): Promise<Verdict | Missing>;
}
