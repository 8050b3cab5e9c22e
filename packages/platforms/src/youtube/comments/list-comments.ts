import type {
  CommentPage,
  CommentQuery,
  Missing,
  PlatformComment,
} from "#src/comments/connector.ts";
import { list, object, text } from "#src/http/platform-answer.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import { readYoutube } from "./calls.ts";
import { CommentFeed, type FeedSource } from "./comment-feed.ts";
import { parseCursor, toCursor, wasReturned } from "./cursor.ts";

/** YouTube shows comments on every public video. */
async function checkOwner(
  { baseUrl, account, videoId }: FeedSource,
  signal: AbortSignal,
): Promise<{ readonly kind: "owned" } | Missing | Failure> {
  const query = { part: "snippet", id: videoId };
  const answer = await readYoutube(baseUrl, account, { path: "videos", query }, signal);
  if (answer.kind === "failed") return answer.failure;
  const [video] = list(answer.json, "items");
  const channelId = text(object(video, "snippet"), "channelId");
  return channelId === account.externalId ? { kind: "owned" } : { kind: "missing" };
}

function findNewest(feeds: readonly CommentFeed[]): CommentFeed | undefined {
  const time = ({ head }: CommentFeed) => head?.createdAt.getTime() ?? -1;
  const [newest] = feeds.toSorted((one, other) => time(other) - time(one));
  return newest?.head === undefined ? undefined : newest;
}

async function takeComments(
  feeds: readonly CommentFeed[],
  limit: number,
): Promise<readonly PlatformComment[] | Failure | "comments_disabled"> {
  const comments: PlatformComment[] = [];
  while (comments.length < limit) {
    for (const feed of feeds) {
      const failure = await feed.fill();
      if (failure !== undefined) return failure;
    }
    const newest = findNewest(feeds);
    if (newest?.head === undefined) break;
    comments.push(newest.head);
    newest.take();
  }
  return comments;
}

/**
 * YouTube's lists of published and of hidden comments are merged by time. A video whose comments
 * are turned off has none.
 */
export async function listComments(
  source: FeedSource,
  { limit, after }: CommentQuery,
  signal: AbortSignal,
): Promise<CommentPage | Missing | Failure> {
  const owner = await checkOwner(source, signal);
  if (owner.kind !== "owned") return owner;
  const cursor = parseCursor(after);
  const isSeen = (comment: PlatformComment) => wasReturned(cursor, comment);
  const { published: shown, heldForReview: held } = cursor.tokens;
  const published = new CommentFeed(source, { status: "published", token: shown }, isSeen, signal);
  const hidden = new CommentFeed(source, { status: "heldForReview", token: held }, isSeen, signal);
  const comments = await takeComments([published, hidden], limit);
  if (comments === "comments_disabled") return { kind: "page", comments: [], next: undefined };
  if ("kind" in comments) return comments;
  const positions = { published: published.position, heldForReview: hidden.position };
  return { kind: "page", comments, next: toCursor(cursor, comments, positions) };
}
