import type { PlatformComment } from "#src/comments/connector.ts";
import { list, text } from "#src/http/platform-answer.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { PAGE_SIZE, readYoutube } from "./calls.ts";
import { toThreadComment } from "./threads.ts";

/** YouTube's separate lists of published comments and of comments that the owner has hidden (held for review). */
export const STATUSES = ["published", "heldForReview"] as const;
export type Status = (typeof STATUSES)[number];

/** A position in one of YouTube's lists: the token of a page; null for the first page, undefined after the last page. */
export type PageToken = string | null | undefined;

/**
 * Reads one of YouTube's comment lists of a video, newest first, page by page. It remembers the page that contains the next
 * comment to take.
 */
export class CommentFeed {
  readonly #status: Status;
  readonly #read: (query: Readonly<Record<string, string>>) => ReturnType<typeof readYoutube>;
  readonly #isSeen: (comment: PlatformComment) => boolean;
  #comments: readonly PlatformComment[] = [];
  #token: PageToken;
  #nextToken: PageToken;

  /** @param isSeen Returns whether the given comment was on an earlier page that Postrider returned. */
  constructor(
    { baseUrl, account, videoId }: FeedSource,
    { status, token }: { readonly status: Status; readonly token: PageToken },
    isSeen: (comment: PlatformComment) => boolean,
    signal: AbortSignal,
  ) {
    this.#status = status;
    this.#nextToken = token;
    this.#isSeen = isSeen;
    this.#read = async (query) =>
      await readYoutube(
        baseUrl,
        account,
        { path: "commentThreads", query: { ...query, videoId } },
        signal,
      );
  }

  /** Reads pages until there is a comment to take or the list ends; returns the failure, if any. */
  async fill(): Promise<Failure | "comments_disabled" | undefined> {
    while (this.#comments.length === 0 && this.#nextToken !== undefined) {
      const token = this.#nextToken;
      const answer = await this.#read({
        part: "snippet",
        order: "time",
        moderationStatus: this.#status,
        textFormat: "plainText",
        maxResults: String(PAGE_SIZE),
        ...(token === null ? {} : { pageToken: token }),
      });
      if (answer.kind === "failed")
        return answer.reason === "commentsDisabled" ? "comments_disabled" : answer.failure;
      this.#token = token;
      this.#nextToken = text(answer.json, "nextPageToken");
      this.#comments = this.#toComments(list(answer.json, "items"));
    }
    return undefined;
  }

  /**
   * A thread is also in the list of hidden comments when only a reply to its published comment is hidden; such a thread is
   * left out, because the list of published comments contains it.
   */
  #toComments(items: readonly unknown[]): readonly PlatformComment[] {
    const isHidden = this.#status === "heldForReview";
    return items
      .flatMap((item) => toThreadComment(item)?.comment ?? [])
      .map((comment) => ({ ...comment, hidden: comment.hidden ?? isHidden }))
      .filter((comment) => comment.hidden === isHidden)
      .filter((comment) => !this.#isSeen(comment));
  }

  /** The newest comment of this list that Postrider has not returned yet; undefined at the end of the list. */
  get head(): PlatformComment | undefined {
    return this.#comments[0];
  }

  take(): void {
    this.#comments = this.#comments.slice(1);
  }

  /** The page that contains the next comment to take. */
  get position(): PageToken {
    return this.#comments.length > 0 ? this.#token : this.#nextToken;
  }
}

/** The video whose comments are read, and the account that reads them. */
export interface FeedSource {
  readonly baseUrl: string;
  readonly account: AccountAccess;
  readonly videoId: string;
}
