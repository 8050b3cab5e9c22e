import type { ReplyRequest } from "#src/comments/connector.ts";
import { type PlatformAnswer, text as textOf } from "#src/http/platform-answer.ts";
import { bearer, jsonBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import type { Failure, Outcome } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { toUnanswered } from "#src/publishing/unanswered-call.ts";
import { limitedForMs, reasonOf, toFailure } from "../publishing/failures.ts";

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

export function toCommentPermalink(videoId: string, commentId: string): string {
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
