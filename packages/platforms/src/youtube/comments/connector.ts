import type {
  AppBudget,
  CommentCosts,
  CommentPage,
  CommentQuery,
  CommentRef,
  CommentsConnector,
  Missing,
  PlatformComment,
} from "#src/comments/connector.ts";
import { list, object, text } from "#src/http/platform-answer.ts";
import {
  ask,
  type Caller,
  forAccounts,
  openAt,
  type PlatformAddress,
} from "#src/publishing/caller.ts";
import { type Failure, orUnknown, type Unknown } from "#src/publishing/outcome.ts";
import { reasonOf, toStepFailure } from "#src/youtube/publishing/failures.ts";
import { reconcileReply, reply } from "./reply.ts";
import {
  CommentFeed,
  type PageToken,
  readYoutube,
  type Status,
  toThreadComment,
  toVideoComment,
  type VideoComment,
} from "./threads.ts";

/**
 * A position in the merged lists of YouTube comments: the pages to continue with, and the last
 * comment that was returned. YouTube states times in seconds, so the ids of all returned comments
 * of that second are kept too. A comment that was written meanwhile and moves the pages then
 * neither hides nor repeats another comment.
 */
interface FeedCursor {
  readonly tokens: Readonly<Partial<Record<Status, string | null>>>;
  readonly time: number;
  readonly ids: readonly string[];
}

const FIRST_PAGE: FeedCursor = {
  tokens: { published: null, heldForReview: null },
  time: Number.MAX_SAFE_INTEGER,
  ids: [],
};

function parseCursor(after: string | undefined): FeedCursor {
  return after === undefined ? FIRST_PAGE : (JSON.parse(after) as FeedCursor);
}

function wasReturned({ time, ids }: FeedCursor, comment: PlatformComment): boolean {
  const at = comment.createdAt.getTime();
  return at > time || (at === time && ids.includes(comment.id));
}

function toCursor(
  before: FeedCursor,
  page: readonly PlatformComment[],
  positions: Readonly<Record<Status, PageToken>>,
): string | undefined {
  const tokens = Object.fromEntries(
    Object.entries(positions).filter(([, token]) => token !== undefined),
  );
  const last = page.at(-1);
  if (Object.keys(tokens).length === 0 || last === undefined) return undefined;
  const time = last.createdAt.getTime();
  const sameSecond = page.filter(({ createdAt }) => createdAt.getTime() === time);
  const ids = [...(before.time === time ? before.ids : []), ...sameSecond.map(({ id }) => id)];
  return JSON.stringify({ tokens, time, ids } satisfies FeedCursor);
}

const OWNER_UNITS = 1;

/** YouTube shows comments on every public video. */
async function checkOwner(
  youtube: Caller,
  videoId: string,
): Promise<{ readonly kind: "owned" } | Missing | Failure> {
  const answer = await readYoutube(youtube, "videos", { part: "snippet", id: videoId });
  if (answer.kind === "failed") return answer.failure;
  const [video] = list(answer.json, "items");
  const channelId = text(object(video, "snippet"), "channelId");
  return channelId === youtube.account.externalId ? { kind: "owned" } : { kind: "missing" };
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
async function listComments(
  youtube: Caller,
  { mediaId, limit, after }: CommentQuery,
): Promise<CommentPage | Missing | Failure> {
  const owner = await checkOwner(youtube, mediaId);
  if (owner.kind !== "owned") return owner;
  const cursor = parseCursor(after);
  const isSeen = (comment: PlatformComment) => wasReturned(cursor, comment);
  const open = (status: Status) =>
    new CommentFeed(youtube, mediaId, { status, token: cursor.tokens[status] }, isSeen);
  const published = open("published");
  const hidden = open("heldForReview");
  const comments = await takeComments([published, hidden], limit);
  if (comments === "comments_disabled") return { kind: "page", comments: [], next: undefined };
  if ("kind" in comments) return comments;
  const positions = { published: published.position, heldForReview: hidden.position };
  const units = OWNER_UNITS + published.calls + hidden.calls;
  return { kind: "page", comments, next: toCursor(cursor, comments, positions), units };
}

const NOT_FOUND: ReadonlySet<string> = new Set(["commentThreadNotFound", "commentNotFound"]);

/** Only a thread states the number of replies. */
const RESOURCES = [
  { path: "commentThreads", parse: toThreadComment },
  // YouTube does not document whether the thread of a hidden comment can be read by its id, so the
  // comment itself is read when its thread is not found. The comment names the channel, but not
  // always the video.
  { path: "comments", parse: (resource: unknown) => toVideoComment(resource, null) },
] as const;

/** YouTube states the channel of the video, which must be the account's. */
async function readComment(
  youtube: Caller,
  { mediaId, commentId }: CommentRef,
): Promise<{ readonly kind: "comment"; readonly comment: PlatformComment } | Missing | Failure> {
  const query = { part: "snippet", id: commentId, textFormat: "plainText" };
  for (const { path, parse } of RESOURCES) {
    const answer = await readYoutube(youtube, path, query);
    if (answer.kind === "failed") {
      if (NOT_FOUND.has(answer.reason)) continue;
      return answer.failure;
    }
    const found: VideoComment | undefined = parse(list(answer.json, "items")[0]);
    if (found?.comment.id !== commentId) continue;
    const isOwned =
      found.channelId === youtube.account.externalId && (found.videoId ?? mediaId) === mediaId;
    return isOwned ? { kind: "comment", comment: found.comment } : { kind: "missing" };
  }
  return { kind: "missing" };
}

/** `heldForReview` hides a comment, because `rejected` cannot be undone. */
async function setHidden(
  youtube: Caller,
  { commentId, hidden }: CommentRef & { readonly hidden: boolean },
): Promise<{ readonly kind: "done" } | Missing | Failure | Unknown> {
  const path = "youtube/v3/comments/setModerationStatus";
  const query = { id: commentId, moderationStatus: hidden ? "heldForReview" : "published" };
  const answer = await ask(youtube, { method: "POST", path, query });
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (answer.status === 204) return { kind: "done" };
  if (reasonOf(answer) === "commentNotFound") return { kind: "missing" };
  return orUnknown(toStepFailure(answer));
}

/**
 * A project has 10,000 units a day for everything except uploads. A call that reads costs one, a
 * reply or a change of the moderation status 50 (quota page, 2026-09-11). Metrics use at most
 * 2,400; the 1,600 that are left are for publishing: thumbnails, playlists, searches, deletions.
 */
const BUDGET: AppBudget = {
  name: "comments",
  units: 6_000,
  windowMs: 86_400_000,
  burstShare: 0.5,
  resetsIn: "America/Los_Angeles",
};

const WRITE = { budget: BUDGET, units: 50 };

/** A page reads the owner of the video and both lists; a comment, its thread and itself. */
const COSTS: CommentCosts = {
  list: () => ({ budget: BUDGET, units: 3 }),
  read: { budget: BUDGET, units: 2 },
  look: { budget: BUDGET, units: 1 },
  reply: WRITE,
  setHidden: WRITE,
};

export function createYoutubeCommentsConnector({ baseUrl }: PlatformAddress): CommentsConnector {
  return {
    platform: "youtube",
    costs: COSTS,
    actions: new Set(["reply", "hide", "unhide"]),
    ...forAccounts(openAt(baseUrl), { listComments, readComment, setHidden }),
    reply: (account, request, guard) => reply({ baseUrl, account }, request, guard),
    reconcileReply: (account, request, call, signal) =>
      reconcileReply({ baseUrl, account, signal }, request, call),
  };
}
