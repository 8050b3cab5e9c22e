import type {
  AppBudget,
  CommentCosts,
  CommentPage,
  CommentQuery,
  CommentRef,
  CommentsConnector,
  Missing,
  PlatformComment,
  ReplyRequest,
} from "#src/comments/connector.ts";
import { list, object, text } from "#src/http/platform-answer.ts";
import { jsonBody } from "#src/http/platform-request.ts";
import type { SendGuard } from "#src/http/send-once.ts";
import { ask, type Caller, forAccounts, openAt, type Site } from "#src/publishing/caller.ts";
import { type Failure, orUnknown, type Outcome, type Unknown } from "#src/publishing/outcome.ts";
import { judgeMatchingPosts } from "#src/publishing/search.ts";
import { cannotTell, type UnknownCall, type Verdict } from "#src/publishing/verdict.ts";
import type { XSettings } from "#src/x/publishing/connector.ts";
import { createPost, toPermalink } from "#src/x/publishing/create-post.ts";
import { isMissing, toRepeatableFailure } from "#src/x/publishing/failures.ts";
import { findParentId, readTimeline, type TimelineEntry } from "#src/x/publishing/reconcile.ts";
import { compareSent } from "#src/x/publishing/timeline-text.ts";
import { COMMENT_FIELDS, isTweetId, readTweets, toComment } from "./tweets.ts";

const MIN_RESULTS = 10;

/**
 * X's search also finds replies to posts of others. X answers 200 with an `errors` list for posts
 * that the account may not see.
 */
async function checkOwner(
  x: Caller,
  mediaId: string,
): Promise<{ readonly kind: "owned" } | Missing | Failure> {
  const answer = await readTweets(x, `2/tweets/${mediaId}`, { "tweet.fields": "author_id" });
  if (answer.kind !== "result") return answer;
  const authorId = text(object(answer.json, "data"), "author_id");
  return authorId === x.account.externalId ? { kind: "owned" } : { kind: "missing" };
}

/**
 * X's recent search reaches no further back. X charges for each result, so only direct replies are
 * asked for. `after` is the id of the last reply of the previous page: ids grow with time, so a
 * page can begin below any id.
 */
async function listComments(
  x: Caller,
  { mediaId, limit, after }: CommentQuery,
): Promise<CommentPage | Missing | Failure> {
  if (!isTweetId(mediaId)) return { kind: "missing" };
  const owner = await checkOwner(x, mediaId);
  if (owner.kind !== "owned") return owner;
  const query = {
    ...COMMENT_FIELDS,
    query: `in_reply_to_tweet_id:${mediaId}`,
    max_results: String(Math.max(MIN_RESULTS, limit)),
    until_id: after,
  };
  const answer = await readTweets(x, "2/tweets/search/recent", query);
  if (answer.kind !== "result") return answer;
  const read = list(answer.json, "data");
  const found = read.filter((tweet) => findParentId(tweet) === mediaId);
  const comments = found.slice(0, limit).map((tweet) => toComment(tweet, answer.json, x.account));
  const meta = object(answer.json, "meta");
  const next =
    found.length > limit
      ? comments.at(-1)?.id
      : text(meta, "next_token") && text(meta, "oldest_id");
  return { kind: "page", comments, next, units: 1 + read.length };
}

async function readComment(
  x: Caller,
  { mediaId, commentId }: CommentRef,
): Promise<{ readonly kind: "comment"; readonly comment: PlatformComment } | Missing | Failure> {
  if (!isTweetId(mediaId) || !isTweetId(commentId)) return { kind: "missing" };
  const query = { ...COMMENT_FIELDS, ids: `${mediaId},${commentId}` };
  const answer = await readTweets(x, "2/tweets", query);
  if (answer.kind !== "result") return answer;
  const tweets = list(answer.json, "data");
  const media = tweets.find((tweet) => text(tweet, "id") === mediaId);
  const comment = tweets.find((tweet) => text(tweet, "id") === commentId);
  const isOwned = text(media, "author_id") === x.account.externalId;
  return isOwned && comment !== undefined && findParentId(comment) === mediaId
    ? { kind: "comment", comment: toComment(comment, answer.json, x.account) }
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
  site: Site,
  { commentId, text }: ReplyRequest,
  guard: SendGuard,
): Promise<Outcome> {
  const content = { text, reply: { in_reply_to_tweet_id: commentId } };
  const outcome = await createPost(site, content, guard);
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
  x: Caller,
  request: ReplyRequest,
  call: UnknownCall,
  mayResend: boolean,
): Promise<Verdict> {
  const timeline = await readTimeline(x, call);
  if ("kind" in timeline) return timeline;
  const { urls } = compareSent(request.text);
  const similar = timeline.entries.filter((entry) => isSameReply(request, entry));
  const owned = await call.isOwned(similar.map(({ id }) => id));
  const hasOtherLinks = ({ shown }: TimelineEntry) => shown.urls.join("\n") !== urls.join("\n");
  if (similar.some((entry) => !owned.has(entry.id) && hasOtherLinks(entry)))
    return cannotTell("the account has a reply with the same text and other links");
  const posts = similar.map(({ id }) => ({ id, permalink: toPermalink(x.account, id) }));
  const verdict = await judgeMatchingPosts(posts, request, call);
  return verdict.kind === "absent" && !mayResend
    ? cannotTell("the reply was not found, and replies are not sent again")
    : verdict;
}

type HideResult = { readonly kind: "done" } | Missing | Failure | Unknown;

/** X refuses this call for replies in conversations that the account did not start. */
async function setHidden(
  x: Caller,
  { commentId, hidden }: CommentRef & { readonly hidden: boolean },
): Promise<HideResult> {
  if (!isTweetId(commentId)) return { kind: "missing" };
  const path = `2/tweets/${commentId}/hidden`;
  const answer = await ask(x, { method: "PUT", path, body: jsonBody({ hidden }) });
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (object(answer.json, "data")?.hidden === hidden) return { kind: "done" };
  if (isMissing(answer)) return { kind: "missing" };
  const failure = orUnknown(toRepeatableFailure(answer));
  return failure.kind === "refused" && failure.code === "account_action_needed"
    ? { ...failure, code: "content_rejected" }
    : failure;
}

const MONTH_MS = 30 * 86_400_000;

/**
 * Of the 3 million posts that an app may read in a month, of which metrics use 1.9 million.
 * Searches for posts whose outcome is unknown keep the rest.
 */
const READS: AppBudget = {
  name: "comments",
  units: 1_000_000,
  windowMs: MONTH_MS,
  burstShare: 0.1,
};

/** A fifth of the 10,000 posts that an app may create in 24 hours; replies count as posts. */
const REPLIES: AppBudget = {
  name: "replies",
  units: 2_000,
  windowMs: 86_400_000,
  burstShare: 0.5,
};

/** X counts the calls that hide replies for each user. */
const COSTS: CommentCosts = {
  list: (limit) => ({ budget: READS, units: 1 + Math.max(MIN_RESULTS, limit) }),
  read: { budget: READS, units: 2 },
  look: { budget: READS, units: 100 },
  reply: { budget: REPLIES, units: 1 },
  setHidden: undefined,
};

/**
 * X lists replies of the last seven days only, does not say which are hidden, and lets apps reply
 * only to authors who mentioned or quoted the account.
 */
export function createXCommentsConnector({ baseUrl, mayResend }: XSettings): CommentsConnector {
  return {
    platform: "x",
    costs: COSTS,
    actions: new Set(["reply", "hide", "unhide"]),
    ...forAccounts(openAt(baseUrl), { listComments, readComment, setHidden }),
    reply: (account, request, guard) => reply({ baseUrl, account }, request, guard),
    reconcileReply: (account, request, call, signal) =>
      reconcileReply({ baseUrl, account, signal }, request, call, mayResend),
  };
}
