import type { ReplyRequest } from "#src/comments/connector.ts";
import { judgeReplies, type OwnReply } from "#src/comments/judge-replies.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { nextLook, repeatLook } from "#src/publishing/look-schedule.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { type GraphMeanings, isMissing, toGraphFailure } from "./failures.ts";
import { readGraphList, type ListCall } from "./graph-list.ts";
import type { GraphApi } from "./graph-request.ts";

const PAGE_SIZE = 50;
/**
 * Enough for a thousand replies to one comment. If the comment has more, the search decides nothing
 * and is repeated later.
 */
const MAX_PAGES = 20;

/** How Facebook or Instagram lists the replies to a comment. */
export interface ReplyList extends Pick<ListCall, "path" | "query"> {
  readonly toOwnReply: (entry: unknown) => OwnReply | undefined;
  readonly own: GraphMeanings;
}

/** Unread replies never count as absent. */
function toUnread(
  answer: PlatformAnswer | NoAnswer,
  own: GraphMeanings,
  call: UnknownCall,
): Verdict {
  if (answer.kind === "no_answer") return repeatLook(call);
  if (isMissing(answer))
    return nextLook(call) ?? { kind: "cannot_tell", message: "the comment can no longer be read" };
  const failure = toGraphFailure(answer, own);
  if (failure?.kind === "refused")
    return { kind: "cannot_tell", message: `the replies cannot be read: ${failure.message}` };
  return failure?.kind === "retryable" && failure.retryAfterMs !== undefined
    ? { kind: "look_again", afterMs: failure.retryAfterMs, isIncomplete: true }
    : repeatLook(call);
}

export async function findOwnReply(
  api: GraphApi,
  account: AccountAccess,
  { path, query, toOwnReply, own }: ReplyList,
  { request, call, signal }: { request: ReplyRequest; call: UnknownCall; signal: AbortSignal },
): Promise<Verdict> {
  const replies: OwnReply[] = [];
  let after: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const read = await readGraphList(
      api,
      account,
      { path, query, limit: PAGE_SIZE, after },
      signal,
    );
    if (read.kind !== "list") return toUnread(read, own, call);
    replies.push(...read.entries.flatMap((entry) => toOwnReply(entry) ?? []));
    if (read.next === undefined) return await judgeReplies(replies, request, call);
    after = read.next;
  }
  return repeatLook(call);
}
