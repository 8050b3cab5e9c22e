import type { ReplyRequest } from "#src/comments/connector.ts";
import {
  list,
  object,
  type PlatformAnswer,
  text,
  text as textOf,
} from "#src/http/platform-answer.ts";
import { jsonBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import { type Caller, type Site, toRequest } from "#src/publishing/caller.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import { type Outcome, type Refusal, refused, toUnanswered } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { judgeMatchingPosts, readWholeList, searchStart } from "#src/publishing/search.ts";
import { cannotTell, type UnknownCall, type Verdict } from "#src/publishing/verdict.ts";
import { normalizeText } from "#src/text/normalize-text.ts";
import { reasonOf, toVisibleFailure } from "#src/youtube/publishing/failures.ts";
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
  youtube: Caller,
  parentId: string,
  call: UnknownCall,
): Promise<{ readonly entries: readonly unknown[] } | Verdict> {
  const maxResults = String(PAGE_SIZE);
  return await readWholeList(call, MAX_PAGES, async (pageToken) => {
    const query = { part: "snippet", parentId, textFormat: "plainText", maxResults, pageToken };
    const { json, failure } = await readYoutube(youtube, "comments", query);
    if (failure?.kind === "refused")
      return cannotTell("YouTube refuses to show the replies to the comment");
    if (!Array.isArray(json?.items)) return repeatLook(call);
    return { entries: list(json, "items"), next: text(json, "nextPageToken") };
  });
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
  youtube: Caller,
  request: ReplyRequest,
  call: UnknownCall,
): Promise<Verdict> {
  const found = await readReplies(youtube, request.commentId, call);
  if ("kind" in found) return found;
  const posts = found.entries
    .filter((each) => isSameReply(each, youtube.account, request, searchStart(call)))
    .map((each) => text(each, "id") ?? "")
    .map((id) => ({ id, permalink: toCommentPermalink(request.mediaId, id) }));
  return await judgeMatchingPosts(posts, request, call);
}

/**
 * Reasons for which YouTube refuses a reply and whose HTTP status would be misleading
 * (comments.insert, read 2026-11-23).
 */
const REFUSALS: ReadonlyMap<string, Refusal> = new Map([
  ["parentCommentNotFound", refused("content_rejected", "the comment no longer exists")],
  ["commentsDisabled", refused("content_rejected", "comments are turned off for the video")],
  [
    "ineligibleAccount",
    refused("account_action_needed", "the channel cannot comment; finish its set-up on YouTube"),
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
  return refusal ?? toVisibleFailure(answer);
}

export async function reply(site: Site, request: ReplyRequest, guard: SendGuard): Promise<Outcome> {
  const { commentId: parentId, text: textOriginal } = request;
  const path = "youtube/v3/comments";
  const body = jsonBody({ snippet: { parentId, textOriginal } });
  const call = { method: "POST", path, query: { part: "snippet" }, body } as const;
  const sent = await sendOnce(toRequest(site, call), guard);
  return sent.kind === "answer" ? toOutcome(sent, request) : toUnanswered(sent);
}
