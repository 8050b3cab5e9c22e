import type { ReplyRequest } from "#src/comments/connector.ts";
import {
  list,
  object,
  type PlatformAnswer,
  text,
  text as textOf,
} from "#src/http/platform-answer.ts";
import { bearer, jsonBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import { judgeMatchingPosts, searchStart } from "#src/publishing/matching-posts.ts";
import { type Failure, type Outcome, toUnanswered } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { normalizeText } from "#src/text/normalize-text.ts";
import { limitedForMs, reasonOf, toFailure } from "#src/youtube/publishing/failures.ts";
import { PAGE_SIZE, readYoutube } from "./threads.ts";

/**
 * Enough for 2,000 replies to one comment. If the comment has more, the search decides nothing and
 * is repeated later.
 */
const MAX_PAGES = 40;

/**
 * YouTube does not document their order, so only the whole list can prove that a reply is absent.
 */
async function readReplies(
  baseUrl: string,
  account: AccountAccess,
  parentId: string,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<{ readonly replies: readonly unknown[] } | { readonly verdict: Verdict }> {
  const replies: unknown[] = [];
  let token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = {
      part: "snippet",
      parentId,
      textFormat: "plainText",
      maxResults: String(PAGE_SIZE),
      pageToken: token,
    };
    const answer = await readYoutube(baseUrl, account, { path: "comments", query }, signal);
    if (answer.kind === "failed") {
      const isRefused = answer.failure.kind === "refused";
      const message = "YouTube refuses to show the replies to the comment";
      return { verdict: isRefused ? { kind: "cannot_tell", message } : repeatLook(call) };
    }
    if (!Array.isArray(answer.json.items)) return { verdict: repeatLook(call) };
    replies.push(...list(answer.json, "items"));
    token = text(answer.json, "nextPageToken");
    if (token === undefined) return { replies };
  }
  return { verdict: repeatLook(call) };
}

function isSameReply(
  resource: unknown,
  { externalId }: AccountAccess,
  request: ReplyRequest,
  since: Date,
): boolean {
  const snippet = object(resource, "snippet");
  const shown = text(snippet, "textOriginal") ?? text(snippet, "textDisplay");
  const isOwn = text(object(snippet, "authorChannelId"), "value") === externalId;
  // A reply whose time cannot be read may be the reply that is searched for.
  const isOlder = Date.parse(text(snippet, "publishedAt") ?? "") < since.getTime();
  return isOwn && !isOlder && normalizeText(shown) === normalizeText(request.text);
}

export async function reconcileReply(
  baseUrl: string,
  account: AccountAccess,
  request: ReplyRequest,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const found = await readReplies(baseUrl, account, request.commentId, call, signal);
  if ("verdict" in found) return found.verdict;
  const posts = found.replies
    .filter((each) => isSameReply(each, account, request, searchStart(call)))
    .map((each) => text(each, "id") ?? "")
    .map((id) => ({ id, permalink: toCommentPermalink(request.mediaId, id) }));
  return await judgeMatchingPosts(posts, request, call);
}

type Refusal = Extract<Failure, { kind: "refused" }>;

/**
 * Reasons for which YouTube refuses a reply and whose HTTP status would be misleading
 * (comments.insert, read 2026-11-23).
 */
const REFUSALS: ReadonlyMap<string, Refusal> = new Map([
  [
    "parentCommentNotFound",
    { kind: "refused", code: "content_rejected", message: "the comment no longer exists" },
  ],
  [
    "commentsDisabled",
    {
      kind: "refused",
      code: "content_rejected",
      message: "comments are turned off for the video",
    },
  ],
  [
    "ineligibleAccount",
    {
      kind: "refused",
      code: "account_action_needed",
      message: "the channel cannot comment; finish its set-up on YouTube",
    },
  ],
]);

function toCommentPermalink(videoId: string, commentId: string): string {
  const query = new URLSearchParams({ v: videoId, lc: commentId });
  return `https://www.youtube.com/watch?${query.toString()}`;
}

function toOutcome(answer: PlatformAnswer, { mediaId }: ReplyRequest): Outcome {
  const id = textOf(answer.json, "id");
  if (answer.status === 200 && id !== undefined)
    return { kind: "published", externalId: id, permalink: toCommentPermalink(mediaId, id) };
  const refusal = answer.status < 500 ? REFUSALS.get(reasonOf(answer)) : undefined;
  if (refusal !== undefined) return refusal;
  const message = `HTTP ${answer.status}`;
  if (answer.status === 429)
    return { kind: "unknown", message, limitedForMs: limitedForMs(answer) };
  return toFailure(answer) ?? { kind: "unknown", message };
}

export async function reply(
  baseUrl: string,
  { accessToken }: AccountAccess,
  request: ReplyRequest,
  guard: SendGuard,
): Promise<Outcome> {
  const { commentId: parentId, text: textOriginal } = request;
  const url = `${baseUrl}/youtube/v3/comments?part=snippet`;
  const headers = bearer(accessToken);
  const body = jsonBody({ snippet: { parentId, textOriginal } });
  const sent = await sendOnce({ method: "POST", url, headers, body }, guard);
  return sent.kind === "answer" ? toOutcome(sent, request) : toUnanswered(sent);
}
