import type { ReplyRequest } from "#src/comments/connector.ts";
import type { SendGuard } from "#src/http/send-once.ts";
import { judgeMatchingPosts } from "#src/publishing/matching-posts.ts";
import type { Outcome } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { createPost, toPermalink } from "../publishing/create-post.ts";
import { compareSent } from "../publishing/timeline-text.ts";
import { readTimeline, type TimelineEntry } from "../publishing/timeline.ts";

/**
 * Matches the texts with which X refuses a reply to an author who did not mention or quote the
 * account (X changelog, 2026-02-23; github.com/gptme/gptme-contrib/pull/811 quotes the first text).
 */
const NOT_SUMMONED = /not been mentioned|not permitted to perform this action|restricted who can/i;
/** X itself may add them when the reply is created. */
const LEADING_MENTIONS = /^(?:@\w{1,15}\s+)+/;

export async function reply(
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
export async function reconcileReply(
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
