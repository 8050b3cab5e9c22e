import type {
  CommentPage,
  CommentQuery,
  CommentRef,
  CommentsConnector,
  Missing,
  PlatformComment,
} from "#src/comments/connector.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { reconcileReply, reply } from "./reply.ts";
import { setHidden } from "./set-hidden.ts";
import { missingIn, positionOf, readThread, type ThreadReply } from "./thread.ts";
import { readThreadgate, type Threadgate } from "./threadgate.ts";

function toComment({ ref, comment }: ThreadReply, { hidden }: Threadgate): PlatformComment {
  return { ...comment, hidden: hidden.includes(ref.uri) };
}

async function listComments(
  baseUrl: string,
  account: AccountAccess,
  { mediaId, limit, after }: CommentQuery,
  signal: AbortSignal,
): Promise<CommentPage | Missing | Failure> {
  const thread = await readThread(baseUrl, account, mediaId, signal);
  if (thread.kind !== "thread") return thread;
  const gate = await readThreadgate(baseUrl, account, thread.root, signal);
  if (gate.kind !== "threadgate") return gate;
  const rest = thread.replies.filter(
    ({ comment }) => after === undefined || positionOf(comment) < after,
  );
  const page = rest.slice(0, limit);
  const last = rest.length > page.length ? page.at(-1) : undefined;
  return {
    kind: "page",
    comments: page.map((each) => toComment(each, gate)),
    next: last === undefined ? undefined : positionOf(last.comment),
  };
}

async function readComment(
  baseUrl: string,
  account: AccountAccess,
  { mediaId, commentId }: CommentRef,
  signal: AbortSignal,
): Promise<{ readonly kind: "comment"; readonly comment: PlatformComment } | Missing | Failure> {
  const thread = await readThread(baseUrl, account, mediaId, signal);
  if (thread.kind !== "thread") return thread;
  const found = thread.replies.find(({ comment }) => comment.id === commentId);
  if (found === undefined) return missingIn(thread);
  const gate = await readThreadgate(baseUrl, account, thread.root, signal);
  if (gate.kind !== "threadgate") return gate;
  return { kind: "comment", comment: toComment(found, gate) };
}

/**
 * The ids of media and comments are record keys. Bluesky has no pages of comments, so the connector
 * cuts the whole thread into pages.
 */
export function createBlueskyCommentsConnector({
  baseUrl,
}: {
  readonly baseUrl: string;
}): CommentsConnector {
  return {
    platform: "bluesky",
    actions: new Set(["reply", "hide", "unhide"]),
    listComments: (account, query, signal) => listComments(baseUrl, account, query, signal),
    readComment: (account, comment, signal) => readComment(baseUrl, account, comment, signal),
    reply: (account, request, guard) => reply(baseUrl, account, request, guard),
    reconcileReply: (account, request, _call, signal) =>
      reconcileReply(baseUrl, account, request, signal),
    setHidden: (account, request, signal) => setHidden(baseUrl, account, request, signal),
  };
}
