import { createFacets, resolveMentions } from "#src/bluesky/publishing/facets.ts";
import { createTid, putPost } from "#src/bluesky/publishing/put-post.ts";
import {
  askBluesky,
  COLLECTION,
  isOwnersHost,
  openBluesky,
  toPermalink,
  toSite,
} from "#src/bluesky/publishing/xrpc.ts";
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
import { type JsonObject, object, text } from "#src/http/platform-answer.ts";
import type { SendGuard } from "#src/http/send-once.ts";
import { type Caller, forAccounts, type Site } from "#src/publishing/caller.ts";
import { type Failure, type Outcome, refused } from "#src/publishing/outcome.ts";
import { present, type Verdict } from "#src/publishing/verdict.ts";
import { readThreadgate, setHidden, type Threadgate } from "./set-hidden.ts";
import { missingIn, positionOf, readThread, recordKeyOf, type ThreadReply } from "./thread.ts";

/**
 * A reply may only be sent shortly after its intent was recorded, so a longer read would be
 * useless.
 */
const READ_TIMEOUT_MS = 4000;

const MISSING = refused("content_rejected", "the comment no longer exists");

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
  bluesky: Caller,
  { mediaId, commentId, text: content, requestId }: ReplyRequest,
): Promise<JsonObject | Failure> {
  const thread = await readThread(bluesky, mediaId);
  if (thread.kind === "missing") return MISSING;
  if (thread.kind !== "thread") return thread;
  const parent = thread.replies.find(({ comment }) => comment.id === commentId)?.ref;
  if (parent === undefined) {
    const missing = missingIn(thread);
    return missing.kind === "missing" ? MISSING : missing;
  }
  const dids = await resolveMentions(bluesky, content);
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

async function reply(site: Site, request: ReplyRequest, guard: SendGuard): Promise<Outcome> {
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const record = await createRecord({ ...site, signal }, request);
  if ("kind" in record) return record as Failure;
  const { rkey } = identifyReply(request.requestId);
  return await putPost(site, { rkey, record }, guard);
}

function isReplyOf(record: JsonObject | undefined, { commentId, text: content }: ReplyRequest) {
  const parent = text(object(object(record, "reply"), "parent"), "uri") ?? "";
  return (text(record, "text") ?? "") === content && recordKeyOf(parent) === commentId;
}

/**
 * When the record is not there or cannot be read, repeating the call is harmless and resolves the
 * outcome.
 */
async function reconcileReply(bluesky: Caller, request: ReplyRequest): Promise<Verdict> {
  const { rkey } = identifyReply(request.requestId);
  const query = { repo: bluesky.account.externalId, collection: COLLECTION, rkey };
  const answer = await askBluesky(bluesky, { path: "com.atproto.repo.getRecord", query });
  if (answer.kind === "failed" || text(answer.json, "uri") === undefined) return { kind: "repeat" };
  if (!isReplyOf(object(answer.json, "value"), request)) {
    const message = "another record of the account has the record key of this reply";
    return refused("internal_error", message);
  }
  return present(rkey, toPermalink(bluesky.account, rkey));
}

function toComment({ ref, comment }: ThreadReply, { hidden }: Threadgate): PlatformComment {
  return { ...comment, hidden: hidden.includes(ref.uri) };
}

async function listComments(
  bluesky: Caller,
  { mediaId, limit, after }: CommentQuery,
): Promise<CommentPage | Missing | Failure> {
  const thread = await readThread(bluesky, mediaId);
  if (thread.kind !== "thread") return thread;
  const gate = await readThreadgate(bluesky, thread.root);
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
  bluesky: Caller,
  { mediaId, commentId }: CommentRef,
): Promise<{ readonly kind: "comment"; readonly comment: PlatformComment } | Missing | Failure> {
  const thread = await readThread(bluesky, mediaId);
  if (thread.kind !== "thread") return thread;
  const found = thread.replies.find(({ comment }) => comment.id === commentId);
  if (found === undefined) return missingIn(thread);
  const gate = await readThreadgate(bluesky, thread.root);
  if (gate.kind !== "threadgate") return gate;
  return { kind: "comment", comment: toComment(found, gate) };
}

/**
 * A third of Bluesky's 3,000 calls in five minutes, as many as metrics may use. Calls are counted
 * by IP address, so all accounts of an installation share the limit.
 */
const BUDGET: AppBudget = {
  name: "comments",
  units: 1000,
  windowMs: 5 * 60_000,
  burstShare: 0.5,
};

const READ = { budget: BUDGET, units: 2 };
const WRITE = { budget: BUDGET, units: 3 };

/** A thread is read with its threadgate; a write reads the thread first. */
const COSTS: CommentCosts = {
  list: () => READ,
  read: READ,
  look: { budget: BUDGET, units: 1 },
  reply: WRITE,
  setHidden: WRITE,
};

/**
 * The ids of media and comments are record keys. Bluesky has no pages of comments, so the connector
 * cuts the whole thread into pages.
 */
export function createBlueskyCommentsConnector({
  baseUrl,
}: {
  readonly baseUrl: string;
}): CommentsConnector {
  const open = openBluesky(baseUrl);
  return {
    platform: "bluesky",
    actions: new Set(["reply", "hide", "unhide"]),
    costs: COSTS,
    isForeignHost: isOwnersHost,
    ...forAccounts(open, { listComments, readComment, setHidden }),
    reply: (account, request, guard) => reply(toSite(baseUrl, account), request, guard),
    reconcileReply: (account, request, _call, signal) =>
      reconcileReply(open(account, signal), request),
  };
}
