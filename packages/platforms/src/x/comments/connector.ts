import type {
  CommentPage,
  CommentQuery,
  CommentRef,
  CommentsConnector,
  Missing,
  PlatformComment,
  ReplyRequest,
} from "#src/comments/connector.ts";
import { callPlatform } from "#src/http/call-platform.ts";
import { list, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer, jsonBody } from "#src/http/platform-request.ts";
import type { SendGuard } from "#src/http/send-once.ts";
import { judgeMatchingPosts } from "#src/publishing/matching-posts.ts";
import type { Failure, Outcome, Unknown } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import type { XSettings } from "#src/x/publishing/connector.ts";
import { createPost, toPermalink } from "#src/x/publishing/create-post.ts";
import { toRepeatableFailure } from "#src/x/publishing/failures.ts";
import { findParentId, readTimeline, type TimelineEntry } from "#src/x/publishing/reconcile.ts";
import { compareSent } from "#src/x/publishing/timeline-text.ts";
import { COMMENT_FIELDS, isTweetId, readTweets, toComment } from "./tweets.ts";

const MIN_RESULTS = 10;

/**
 * X's search also finds replies to posts of others. X answers 200 with an `errors` list for posts
 * that the account may not see.
 */
async function checkOwner(
  baseUrl: string,
  account: AccountAccess,
  mediaId: string,
  signal: AbortSignal,
): Promise<{ readonly kind: "owned" } | Missing | Failure> {
  const query = { "tweet.fields": "author_id" };
  const answer = await readTweets(baseUrl, account, { path: `/${mediaId}`, query }, signal);
  if (answer.kind !== "result") return answer;
  const authorId = text(object(answer.json, "data"), "author_id");
  return authorId === account.externalId ? { kind: "owned" } : { kind: "missing" };
}

/**
 * X's recent search reaches no further back. X charges for each result, so only direct replies are
 * asked for. `after` is the id of the last reply of the previous page: ids grow with time, so a
 * page can begin below any id.
 */
async function listComments(
  baseUrl: string,
  account: AccountAccess,
  { mediaId, limit, after }: CommentQuery,
  signal: AbortSignal,
): Promise<CommentPage | Missing | Failure> {
  if (!isTweetId(mediaId)) return { kind: "missing" };
  const owner = await checkOwner(baseUrl, account, mediaId, signal);
  if (owner.kind !== "owned") return owner;
  const query = {
    ...COMMENT_FIELDS,
    query: `in_reply_to_tweet_id:${mediaId}`,
    max_results: String(Math.max(MIN_RESULTS, limit)),
    until_id: after,
  };
  const answer = await readTweets(baseUrl, account, { path: "/search/recent", query }, signal);
  if (answer.kind !== "result") return answer;
  const found = list(answer.json, "data").filter((tweet) => findParentId(tweet) === mediaId);
  const comments = found.slice(0, limit).map((tweet) => toComment(tweet, answer.json, account));
  const meta = object(answer.json, "meta");
  const next =
    found.length > limit
      ? comments.at(-1)?.id
      : text(meta, "next_token") && text(meta, "oldest_id");
  return { kind: "page", comments, next };
}

async function readComment(
  baseUrl: string,
  account: AccountAccess,
  { mediaId, commentId }: CommentRef,
  signal: AbortSignal,
): Promise<{ readonly kind: "comment"; readonly comment: PlatformComment } | Missing | Failure> {
  if (!isTweetId(mediaId) || !isTweetId(commentId)) return { kind: "missing" };
  const query = { ...COMMENT_FIELDS, ids: `${mediaId},${commentId}` };
  const answer = await readTweets(baseUrl, account, { path: "", query }, signal);
  if (answer.kind !== "result") return answer;
  const tweets = list(answer.json, "data");
  const media = tweets.find((tweet) => text(tweet, "id") === mediaId);
  const comment = tweets.find((tweet) => text(tweet, "id") === commentId);
  const isOwned = text(media, "author_id") === account.externalId;
  return isOwned && comment !== undefined && findParentId(comment) === mediaId
    ? { kind: "comment", comment: toComment(comment, answer.json, account) }
    : { kind: "missing" };
}

/**
 * Matches the texts with which X refuses a reply to an author who did not mention or quote the
 * account (X changelog, 2026-02-23; github.com/gptme/gptme-contrib/pull/811 quotes the first text).
 */
const NOT_SUMMONED = /not been mentioned|not permitted to perform this action|restricted who can/i;
/** X itself may add them when the reply is created. */
const LEADING_MENTIONS = /^(?:@\w{1,15}\s+)+/;

async function reply(
  baseUrl: string,
  account: AccountAccess,
  { commentId, text }: ReplyRequest,
  guard: SendGuard,
): Promise<Outcome> {
  const content = { text, reply: { in_reply_to_tweet_id: commentId } };
  const outcome = await createPost(baseUrl, account, content, guard);
  if (outcome.kind !== "refused" || !NOT_SUMMONED.test(outcome.message)) return outcome;
  const reason = "X lets apps reply only to authors who mentioned or quoted the account";
  return { ...outcome, code: "content_rejected", message: `${reason} (${outcome.message})` };
}

function comparable(skeleton: string): string {
  return skeleton.replace(LEADING_MENTIONS, "");
}

/** Links are not compared. */
function isSameReply({ commentId, text }: ReplyRequest, entry: TimelineEntry): boolean {
  const sent = comparable(compareSent(text).skeleton);
  return entry.repliesTo === commentId && comparable(entry.shown.skeleton) === sent;
}

/**
 * Searches the account's own timeline, which lists replies too. Only complete reads at the
 * scheduled times prove that the reply is absent.
 */
async function reconcileReply(
  { baseUrl, mayResend }: { readonly baseUrl: string; readonly mayResend: boolean },
  account: AccountAccess,
  request: ReplyRequest,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const timeline = await readTimeline(baseUrl, account, call, signal);
  if ("verdict" in timeline) return timeline.verdict;
  const { urls } = compareSent(request.text);
  const similar = timeline.entries.filter((entry) => isSameReply(request, entry));
  const owned = await call.isOwned(similar.map(({ id }) => id));
  const hasOtherLinks = ({ shown }: TimelineEntry) => shown.urls.join("\n") !== urls.join("\n");
  if (similar.some((entry) => !owned.has(entry.id) && hasOtherLinks(entry)))
    return {
      kind: "cannot_tell",
      message: "the account has a reply with the same text and other links",
    };
  const posts = similar.map(({ id }) => ({ id, permalink: toPermalink(account, id) }));
  const verdict = await judgeMatchingPosts(posts, request, call);
  return verdict.kind === "absent" && !mayResend
    ? { kind: "cannot_tell", message: "the reply was not found, and replies are not sent again" }
    : verdict;
}

type HideResult = { readonly kind: "done" } | Missing | Failure | Unknown;

function isMissing(answer: PlatformAnswer): boolean {
  if (answer.status === 404) return answer.json !== undefined;
  return list(answer.json, "errors").some((error) =>
    (text(error, "type") ?? "").endsWith("/resource-not-found"),
  );
}

/** X refuses this call for replies in conversations that the account did not start. */
async function setHidden(
  baseUrl: string,
  { accessToken }: AccountAccess,
  { commentId, hidden }: CommentRef & { readonly hidden: boolean },
  signal: AbortSignal,
): Promise<HideResult> {
  if (!isTweetId(commentId)) return { kind: "missing" };
  const url = `${baseUrl}/2/tweets/${commentId}/hidden`;
  const headers = bearer(accessToken);
  const call = { method: "PUT", url, headers, body: jsonBody({ hidden }) } as const;
  const answer = await callPlatform(call, signal);
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (object(answer.json, "data")?.hidden === hidden) return { kind: "done" };
  if (isMissing(answer)) return { kind: "missing" };
  const failure = toRepeatableFailure(answer);
  if (failure.kind === "retryable" && failure.isLimit !== true)
    return { kind: "unknown", message: failure.message };
  return failure.kind === "refused" && failure.code === "account_action_needed"
    ? { ...failure, code: "content_rejected" }
    : failure;
}

/**
 * X lists replies of the last seven days only, does not say which are hidden, and lets apps reply
 * only to authors who mentioned or quoted the account.
 */
export function createXCommentsConnector(settings: XSettings): CommentsConnector {
  const { baseUrl } = settings;
  return {
    platform: "x",
    actions: new Set(["reply", "hide", "unhide"]),
    listComments: (account, query, signal) => listComments(baseUrl, account, query, signal),
    readComment: (account, comment, signal) => readComment(baseUrl, account, comment, signal),
    reply: (account, request, guard) => reply(baseUrl, account, request, guard),
    reconcileReply: (account, request, call, signal) =>
      reconcileReply(settings, account, request, call, signal),
    setHidden: (account, request, signal) => setHidden(baseUrl, account, request, signal),
  };
}
