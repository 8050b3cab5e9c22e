import type {
  CommentPage,
  CommentQuery,
  CommentRef,
  CommentsConnector,
  Missing,
  PlatformComment,
  ReplyRequest,
} from "#src/comments/connector.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { formBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import { ask, type Caller, forAccounts, type Site, toRequest } from "#src/publishing/caller.ts";
import { nextLook, repeatLook } from "#src/publishing/look-schedule.ts";
import {
  type Failure,
  type Outcome,
  refused,
  toUnanswered,
  type Unknown,
} from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { readWholeList, searchStart } from "#src/publishing/search.ts";
import { cannotTell, present, type UnknownCall, type Verdict } from "#src/publishing/verdict.ts";
import { normalizeText } from "#src/text/normalize-text.ts";
import { type GraphMeanings, isMissing, toGraphFailure, toVisibleFailure } from "./failures.ts";
import { readGraphList } from "./graph-request.ts";

/**
 * A missing comment is a definite refusal, because the Graph API looks up the comment before it
 * creates a reply.
 */
export function forComments(own: GraphMeanings): GraphMeanings {
  return { ...own, "100/33": "content_rejected", 24: "content_rejected" };
}

export interface ReadComment {
  readonly kind: "comment";
  readonly comment: PlatformComment;
}

/** How Facebook or Instagram lists, reads, answers and hides comments. */
export interface CommentNetwork extends Pick<CommentsConnector, "platform"> {
  readonly siteOf: (account: AccountAccess) => Site;
  readonly listComments: (
    graph: Caller,
    query: CommentQuery,
  ) => Promise<CommentPage | Missing | Failure>;
  readonly readComment: (
    graph: Caller,
    comment: CommentRef,
  ) => Promise<ReadComment | Missing | Failure>;
  /** Edge of a comment with the replies to it. */
  readonly replies: string;
  readonly replyFields: Readonly<Record<string, string>>;
  /** Undefined for a reply of another author. */
  readonly toOwnReply: (entry: unknown, account: AccountAccess) => OwnReply | undefined;
  /** Parameter that hides a comment. */
  readonly hidden: string;
  readonly ownComment: string;
  readonly own: GraphMeanings;
}

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
  if (others.length > 0) return cannotTell("several replies to the comment have the same text");
  return (await call.hasSimilarPost())
    ? cannotTell("another reply with the same text to the same comment has an unknown outcome")
    : present(reply.id, null);
}

const PAGE_SIZE = 50;
/**
 * Enough for a thousand replies to one comment. If the comment has more, the search decides nothing
 * and is repeated later.
 */
const MAX_PAGES = 20;

/** Unread replies never count as absent. */
function toUnread(
  answer: PlatformAnswer | NoAnswer,
  own: GraphMeanings,
  call: UnknownCall,
): Verdict {
  if (answer.kind === "no_answer") return repeatLook(call);
  if (isMissing(answer)) return nextLook(call) ?? cannotTell("the comment can no longer be read");
  const failure = toGraphFailure(answer, own);
  if (failure?.kind === "refused")
    return cannotTell(`the replies cannot be read: ${failure.message}`);
  return failure?.kind === "retryable" && failure.retryAfterMs !== undefined
    ? { kind: "look_again", afterMs: failure.retryAfterMs, isIncomplete: true }
    : repeatLook(call);
}

async function findOwnReply(
  graph: Caller,
  { replies, replyFields: query, toOwnReply, own }: CommentNetwork,
  request: ReplyRequest,
  call: UnknownCall,
): Promise<Verdict> {
  const path = `${encodeURIComponent(request.commentId)}/${replies}`;
  const found = await readWholeList(call, MAX_PAGES, async (after) => {
    const read = await readGraphList(graph, { path, query, limit: PAGE_SIZE, after });
    if (read.kind !== "list") return toUnread(read, own, call);
    const entries = read.entries.flatMap((entry) => toOwnReply(entry, graph.account) ?? []);
    return { entries, next: read.next };
  });
  return "kind" in found ? found : await judgeReplies(found.entries, request, call);
}

async function reply(
  graph: Site,
  { commentId, text: message }: ReplyRequest,
  { replies, own }: CommentNetwork,
  guard: SendGuard,
): Promise<Outcome> {
  const path = `${encodeURIComponent(commentId)}/${replies}`;
  const call = { method: "POST", path, body: formBody({ message }) } as const;
  const sent = await sendOnce(toRequest(graph, call), guard);
  if (sent.kind !== "answer") return toUnanswered(sent);
  const id = sent.status === 200 ? text(sent.json, "id") : undefined;
  return id === undefined
    ? toVisibleFailure(sent, forComments(own))
    : { kind: "published", externalId: id, permalink: null };
}

async function setHidden(
  graph: Caller,
  { hidden, ...ref }: CommentRef & { readonly hidden: boolean },
  network: CommentNetwork,
): Promise<{ readonly kind: "done" } | Missing | Failure | Unknown> {
  const read = await network.readComment(graph, ref);
  if (read.kind !== "comment") return read;
  if (hidden && read.comment.isOwn) return refused("content_rejected", network.ownComment);
  const path = encodeURIComponent(ref.commentId);
  const body = formBody({ [network.hidden]: String(hidden) });
  const answer = await ask(graph, { method: "POST", path, body });
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (answer.status === 200 && answer.json?.success === true) return { kind: "done" };
  return isMissing(answer) ? { kind: "missing" } : toVisibleFailure(answer, network.own);
}

export function createGraphCommentsConnector(network: CommentNetwork): CommentsConnector {
  const { platform, siteOf, listComments, readComment } = network;
  const open = (account: AccountAccess, signal: AbortSignal) => ({ ...siteOf(account), signal });
  return {
    platform,
    actions: new Set(["reply", "hide", "unhide"]),
    ...forAccounts(open, {
      listComments,
      readComment,
      setHidden: (graph: Caller, request: CommentRef & { readonly hidden: boolean }) =>
        setHidden(graph, request, network),
    }),
    reply: (account, request, guard) => reply(siteOf(account), request, network, guard),
    reconcileReply: (account, request, call, signal) =>
      findOwnReply(open(account, signal), network, request, call),
  };
}
