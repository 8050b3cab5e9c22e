import type { ReplyRequest } from "#src/comments/connector.ts";
import { type GraphMeanings, isMissing, toGraphFailure } from "#src/graph-api/failures.ts";
import { type ListCall, readGraphList } from "#src/graph-api/graph-list.ts";
import type { GraphApi } from "#src/graph-api/graph-request.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { nextLook, repeatLook } from "#src/publishing/look-schedule.ts";
import { searchStart } from "#src/publishing/matching-posts.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { normalizeText } from "#src/text/normalize-text.ts";

interface OwnReply {
  readonly id: string;
  readonly text: string;
  /** Time in Unix milliseconds; NaN when the platform's answer does not say it. */
  readonly createdAt: number;
}

/**
 * Decides whether one of the account's replies to a comment is the reply of a call with an unknown
 * outcome. Replies of other requests are ignored. A reply counts as absent only after complete
 * searches at all scheduled times. A reply whose time cannot be read is considered, because it may
 * be the one that is searched for.
 *
 * @param replies All replies of the account to the comment since `searchStart`.
 */
async function judgeReplies(
  replies: readonly OwnReply[],
  { text }: Pick<ReplyRequest, "text">,
  call: UnknownCall,
): Promise<Verdict> {
  const start = searchStart(call).getTime();
  const wanted = normalizeText(text);
  const similar = replies.filter(
    (reply) => normalizeText(reply.text) === wanted && !(reply.createdAt < start),
  );
  const owned = await call.isOwned(similar.map(({ id }) => id));
  const [reply, ...others] = similar.filter(({ id }) => !owned.has(id));
  if (reply === undefined) return nextLook(call) ?? { kind: "absent" };
  if (others.length > 0)
    return { kind: "cannot_tell", message: "several replies to the comment have the same text" };
  if (await call.hasSimilarPost()) {
    const message = "another reply with the same text to the same comment has an unknown outcome";
    return { kind: "cannot_tell", message };
  }
  return { kind: "present", externalId: reply.id, permalink: null };
}

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
