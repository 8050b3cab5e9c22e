import type { PlatformComment } from "#src/comments/connector.ts";
import {
  count,
  type JsonObject,
  list,
  maxListBytes,
  object,
  text,
  time,
} from "#src/http/platform-answer.ts";
import type { Query } from "#src/http/platform-request.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import { reasonOf, toStepFailure } from "#src/youtube/publishing/failures.ts";

type YoutubeRead =
  | { readonly kind: "result"; readonly json: JsonObject; readonly failure?: undefined }
  | {
      readonly kind: "failed";
      readonly json?: undefined;
      readonly reason: string;
      readonly failure: Failure;
    };

export const PAGE_SIZE = 50;
/** YouTube repeats the text of a comment in two fields, and accepts 10,000 characters. */
const MAX_LIST_BYTES = maxListBytes(PAGE_SIZE, 2 * 10_000);

export async function readYoutube(
  youtube: Caller,
  resource: string,
  query: Query,
): Promise<YoutubeRead> {
  const path = `youtube/v3/${resource}`;
  const answer = await ask(youtube, { path, query, maxAnswerBytes: MAX_LIST_BYTES });
  if (answer.kind === "no_answer")
    return { kind: "failed", reason: "", failure: platformUnavailable(answer.message) };
  if (answer.status === 200 && answer.json !== undefined)
    return { kind: "result", json: answer.json };
  return { kind: "failed", reason: reasonOf(answer), failure: toStepFailure(answer) };
}

export interface VideoComment {
  readonly videoId: string | undefined;
  readonly channelId: string | undefined;
  readonly comment: PlatformComment;
}

function toAuthor(snippet: unknown): Pick<PlatformComment, "authorId" | "authorUsername"> {
  return {
    authorId: text(object(snippet, "authorChannelId"), "value") ?? null,
    authorUsername: text(snippet, "authorDisplayName")?.replace(/^@/, "") ?? null,
  };
}

/**
 * YouTube states the moderation status only in lists, to the owner of the video
 * (developers.google.com/youtube/v3/docs/comments, read 2026-11-23). `replyCount` is null when it
 * is not known.
 */
export function toVideoComment(
  resource: unknown,
  replyCount: number | null,
): VideoComment | undefined {
  const id = text(resource, "id");
  const snippet = object(resource, "snippet");
  const createdAt = time(snippet, "publishedAt");
  const status = text(snippet, "moderationStatus");
  if (id === undefined || createdAt === undefined) return undefined;
  // Only comments on videos of the account's channel are read, so the channel of the video is the
  // account.
  const channelId = text(snippet, "channelId");
  const author = toAuthor(snippet);
  const comment = {
    id,
    text: text(snippet, "textOriginal") ?? text(snippet, "textDisplay") ?? "",
    ...author,
    isOwn: channelId !== undefined && author.authorId === channelId,
    createdAt,
    likeCount: count(snippet, "likeCount"),
    replyCount,
    hidden: status === undefined ? null : status !== "published",
  };
  return { videoId: text(snippet, "videoId"), channelId, comment };
}

export function toThreadComment(thread: unknown): VideoComment | undefined {
  const snippet = object(thread, "snippet");
  const found = toVideoComment(
    object(snippet, "topLevelComment"),
    count(snippet, "totalReplyCount"),
  );
  if (found === undefined) return undefined;
  const videoId = text(snippet, "videoId") ?? found.videoId;
  const channelId = text(snippet, "channelId") ?? found.channelId;
  const { comment } = found;
  const isOwn = channelId !== undefined && comment.authorId === channelId;
  return { videoId, channelId, comment: { ...comment, isOwn } };
}

const STATUSES = ["published", "heldForReview"] as const;
export type Status = (typeof STATUSES)[number];

/** Null for the first page, undefined after the last page. */
export type PageToken = string | null | undefined;

export class CommentFeed {
  readonly #youtube: Caller;
  readonly #videoId: string;
  readonly #status: Status;
  readonly #isSeen: (comment: PlatformComment) => boolean;
  #comments: readonly PlatformComment[] = [];
  #token: PageToken;
  #nextToken: PageToken;
  #calls = 0;

  /** `isSeen` = on an earlier page that Postrider returned. */
  constructor(
    youtube: Caller,
    videoId: string,
    { status, token }: { readonly status: Status; readonly token: PageToken },
    isSeen: (comment: PlatformComment) => boolean,
  ) {
    this.#youtube = youtube;
    this.#videoId = videoId;
    this.#status = status;
    this.#nextToken = token;
    this.#isSeen = isSeen;
  }

  async fill(): Promise<Failure | "comments_disabled" | undefined> {
    while (this.#comments.length === 0 && this.#nextToken !== undefined) {
      const token = this.#nextToken;
      this.#calls += 1;
      const answer = await readYoutube(this.#youtube, "commentThreads", {
        videoId: this.#videoId,
        part: "snippet",
        order: "time",
        moderationStatus: this.#status,
        textFormat: "plainText",
        maxResults: String(PAGE_SIZE),
        pageToken: token ?? undefined,
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

  /** Calls of YouTube so far. */
  get calls(): number {
    return this.#calls;
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
