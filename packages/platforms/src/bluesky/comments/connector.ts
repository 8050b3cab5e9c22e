import { createFacets, resolveMentions } from "#src/bluesky/publishing/facets.ts";
import { createTid, putPost } from "#src/bluesky/publishing/put-post.ts";
import { COLLECTION, toPermalink } from "#src/bluesky/publishing/xrpc.ts";
import { queryBluesky } from "#src/bluesky/xrpc-result.ts";
import type {
  CommentPage,
  CommentQuery,
  CommentRef,
  CommentsConnector,
  Missing,
  PlatformComment,
  ReplyRequest,
} from "#src/comments/connector.ts";
import { type JsonObject, object, text } from "#src/http/platform-answer.ts";
import type { SendGuard } from "#src/http/send-once.ts";
import type { Failure, Outcome } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { Verdict } from "#src/publishing/verdict.ts";
import { readThreadgate, setHidden, type Threadgate } from "./set-hidden.ts";
import { missingIn, positionOf, readThread, recordKeyOf, type ThreadReply } from "./thread.ts";

/**
 * A reply may only be sent shortly after its intent was recorded, so a longer read would be
 * useless.
 */
const READ_TIMEOUT_MS = 4000;

const MISSING: Failure = {
  kind: "refused",
  code: "content_rejected",
  message: "the comment no longer exists",
};

/**
 * Derives the record key and the time of a reply from the id of its request, a UUIDv7: its first 48
 * bits are milliseconds, and its last 32 random bits distinguish requests of the same millisecond.
 * The same request therefore always writes the same record, and repeating the call is harmless.
 */
export function identifyReply(requestId: string): {
  readonly rkey: string;
  readonly createdAt: Date;
} {
  const digits = requestId.replaceAll("-", "");
  const createdAt = new Date(Number.parseInt(digits.slice(0, 12), 16));
  const random = Number.parseInt(digits.slice(-8), 16) / 2 ** 32;
  return { rkey: createTid(createdAt, random), createdAt };
}

async function createRecord(
  baseUrl: string,
  account: AccountAccess,
  { mediaId, commentId, text: content, requestId }: ReplyRequest,
  signal: AbortSignal,
): Promise<JsonObject | Failure> {
  const thread = await readThread(baseUrl, account, mediaId, signal);
  if (thread.kind === "missing") return MISSING;
  if (thread.kind !== "thread") return thread;
  const parent = thread.replies.find(({ comment }) => comment.id === commentId)?.ref;
  if (parent === undefined) {
    const missing = missingIn(thread);
    return missing.kind === "missing" ? MISSING : missing;
  }
  const dids = await resolveMentions(baseUrl, account, content, signal);
  if ("kind" in dids) return dids;
  const facets = createFacets(content, dids);
  return {
    $type: COLLECTION,
    text: content,
    createdAt: identifyReply(requestId).createdAt.toISOString(),
    reply: { root: thread.root, parent },
    ...(facets.length === 0 ? {} : { facets }),
  };
}

async function reply(
  baseUrl: string,
  account: AccountAccess,
  request: ReplyRequest,
  guard: SendGuard,
): Promise<Outcome> {
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const record = await createRecord(baseUrl, account, request, signal);
  if ("kind" in record) return record as Failure;
  const { rkey } = identifyReply(request.requestId);
  return await putPost(baseUrl, account, { rkey, record }, guard);
}

function isReplyOf(record: JsonObject | undefined, { commentId, text: content }: ReplyRequest) {
  const parent = text(object(object(record, "reply"), "parent"), "uri") ?? "";
  return (text(record, "text") ?? "") === content && recordKeyOf(parent) === commentId;
}

/**
 * When the record is not there or cannot be read, repeating the call is harmless and resolves the
 * outcome.
 */
async function reconcileReply(
  baseUrl: string,
  account: AccountAccess,
  request: ReplyRequest,
  signal: AbortSignal,
): Promise<Verdict> {
  const { rkey } = identifyReply(request.requestId);
  const repo = account.externalId;
  const parameters = new URLSearchParams({ repo, collection: COLLECTION, rkey });
  const query = { method: "com.atproto.repo.getRecord", parameters };
  const answer = await queryBluesky(baseUrl, account, query, signal);
  if (answer.kind === "failed" || text(answer.json, "uri") === undefined) return { kind: "repeat" };
  if (!isReplyOf(object(answer.json, "value"), request)) {
    const message = "another record of the account has the record key of this reply";
    return { kind: "refused", code: "internal_error", message };
  }
  return { kind: "present", externalId: rkey, permalink: toPermalink(account, rkey) };
}

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
