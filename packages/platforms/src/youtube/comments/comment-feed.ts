import type { PlatformComment } from "#src/comments/connector.ts";
import { list, text } from "#src/http/platform-answer.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { PAGE_SIZE, readYoutube } from "./calls.ts";
import { toThreadComment } from "./threads.ts";

export const STATUSES = ["published", "heldForReview"] as const;
export type Status = (typeof STATUSES)[number];

/** Null for the first page, undefined after the last page. */
export type PageToken = string | null | undefined;

export class CommentFeed {
  readonly #status: Status;
  readonly #read: (query: Readonly<Record<string, string>>) => ReturnType<typeof readYoutube>;
  readonly #isSeen: (comment: PlatformComment) => boolean;
  #comments: readonly PlatformComment[] = [];
  #token: PageToken;
  #nextToken: PageToken;

  /** `isSeen` = on an earlier page that Postrider returned. */
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
   * A thread is also in the list of hidden comments when only a reply to its published comment is
   * hidden; such a thread is left out, because the list of published comments contains it.
   */
  #toComments(items: readonly unknown[]): readonly PlatformComment[] {
    const isHidden = this.#status === "heldForReview";
    return items
      .flatMap((item) => toThreadComment(item)?.comment ?? [])
      .map((comment) => ({ ...comment, hidden: comment.hidden ?? isHidden }))
      .filter((comment) => comment.hidden === isHidden)
      .filter((comment) => !this.#isSeen(comment));
  }

  get head(): PlatformComment | undefined {
    return this.#comments[0];
  }

  take(): void {
    this.#comments = this.#comments.slice(1);
  }

  get position(): PageToken {
    return this.#comments.length > 0 ? this.#token : this.#nextToken;
  }
}

export interface FeedSource {
  readonly baseUrl: string;
  readonly account: AccountAccess;
  readonly videoId: string;
}
