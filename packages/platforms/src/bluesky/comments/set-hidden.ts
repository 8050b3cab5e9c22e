import { toRequest } from "#src/bluesky/publishing/xrpc.ts";
import { queryBluesky, toResult, type XrpcResult } from "#src/bluesky/xrpc-result.ts";
import type { CommentRef, Missing } from "#src/comments/connector.ts";
import { callPlatform } from "#src/http/call-platform.ts";
import { type JsonObject, list, object, text } from "#src/http/platform-answer.ts";
import { type Failure, platformUnavailable, type Unknown } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { missingIn, readThread, recordKeyOf, type StrongRef, type Thread } from "./thread.ts";

const COLLECTION = "app.bsky.feed.threadgate";

export interface Threadgate {
  readonly kind: "threadgate";
  readonly record: JsonObject | undefined;
  readonly cid: string | null;
  readonly hidden: readonly string[];
}

const NO_THREADGATE: Threadgate = { kind: "threadgate", record: undefined, cid: null, hidden: [] };

function startedThread({ externalId }: AccountAccess, root: StrongRef): boolean {
  return root.uri.startsWith(`at://${externalId}/`);
}

/**
 * The account can hide nothing in the thread of another author, so no replies count as hidden
 * there.
 */
export async function readThreadgate(
  baseUrl: string,
  account: AccountAccess,
  root: StrongRef,
  signal: AbortSignal,
): Promise<Threadgate | Failure> {
  if (!startedThread(account, root)) return NO_THREADGATE;
  const parameters = new URLSearchParams({
    repo: account.externalId,
    collection: COLLECTION,
    rkey: recordKeyOf(root.uri),
  });
  const query = { method: "com.atproto.repo.getRecord", parameters };
  const answer = await queryBluesky(baseUrl, account, query, signal);
  if (answer.kind === "failed")
    return answer.name === "RecordNotFound" ? NO_THREADGATE : answer.failure;

  const record = object(answer.json, "value");
  const cid = text(answer.json, "cid");
  if (record === undefined || cid === undefined)
    return platformUnavailable("the threadgate of the post could not be read");
  const hidden = list(record, "hiddenReplies").filter((uri) => typeof uri === "string");
  return { kind: "threadgate", record, cid, hidden };
}

/**
 * Replaces the list of hidden replies and keeps the other fields, such as who may reply. A
 * threadgate without the field `allow` lets everyone reply, as a thread without threadgate does
 * (lexicon app.bsky.feed.threadgate, 2026-08-20).
 */
async function writeThreadgate(
  baseUrl: string,
  account: AccountAccess,
  { root, gate }: { readonly root: StrongRef; readonly gate: Threadgate },
  hiddenReplies: readonly string[],
  signal: AbortSignal,
): Promise<XrpcResult> {
  const created = { $type: COLLECTION, post: root.uri, createdAt: new Date().toISOString() };
  const body = {
    repo: account.externalId,
    collection: COLLECTION,
    rkey: recordKeyOf(root.uri),
    record: { ...(gate.record ?? created), hiddenReplies },
    swapRecord: gate.cid,
  };
  const call = toRequest(baseUrl, account, "com.atproto.repo.putRecord", body);
  return toResult(await callPlatform(call, signal));
}

/** Maximum number of hidden replies of a thread (lexicon app.bsky.feed.threadgate, 2026-08-20). */
const MAX_HIDDEN = 300;
/** Another program may change the threadgate between reading and writing. */
const MAX_WRITES = 5;

type HideRequest = CommentRef & { readonly hidden: boolean };
type HideResult = { readonly kind: "done" } | Missing | Failure | Unknown;

const DONE: HideResult = { kind: "done" };
const NOT_THE_AUTHOR: HideResult = {
  kind: "refused",
  code: "permission_missing",
  message: "only the author of the first post of a thread can hide replies in it",
};
const TOO_MANY: HideResult = {
  kind: "refused",
  code: "platform_quota",
  message: `Bluesky hides at most ${MAX_HIDDEN} replies of a post; show another reply again first`,
};

/**
 * A hidden comment that its author has deleted since is only in the list of hidden replies, from
 * which it can still be taken.
 */
function findUri(
  { replies }: Thread,
  hidden: readonly string[],
  commentId: string,
): string | undefined {
  const reply = replies.find(({ comment }) => comment.id === commentId);
  return reply?.ref.uri ?? hidden.find((uri) => recordKeyOf(uri) === commentId);
}

function toHidden(
  thread: Thread,
  hidden: readonly string[],
  request: HideRequest,
): { readonly kind: "change"; readonly hidden: readonly string[] } | HideResult {
  const uri = findUri(thread, hidden, request.commentId);
  if (uri === undefined) return missingIn(thread);
  if (hidden.includes(uri) === request.hidden) return DONE;
  if (!request.hidden) return { kind: "change", hidden: hidden.filter((each) => each !== uri) };
  return hidden.length < MAX_HIDDEN ? { kind: "change", hidden: [...hidden, uri] } : TOO_MANY;
}

/** After a write without a clear answer the threadgate may have changed. */
function toHideResult(written: XrpcResult): HideResult | { readonly kind: "swapped" } {
  if (written.kind === "result") return DONE;
  if (written.name === "InvalidSwap") return { kind: "swapped" };
  const { failure } = written;
  return failure.kind === "retryable" && failure.isLimit !== true
    ? { kind: "unknown", message: failure.message }
    : failure;
}

async function changeThreadgate(
  baseUrl: string,
  account: AccountAccess,
  { thread, request }: { readonly thread: Thread; readonly request: HideRequest },
  signal: AbortSignal,
): Promise<ReturnType<typeof toHideResult>> {
  const { root } = thread;
  const gate = await readThreadgate(baseUrl, account, root, signal);
  if (gate.kind !== "threadgate") return gate;
  const wanted = toHidden(thread, gate.hidden, request);
  if (wanted.kind !== "change") return wanted;
  return toHideResult(
    await writeThreadgate(baseUrl, account, { root, gate }, wanted.hidden, signal),
  );
}

/** Writes the threadgate on the condition that it has not changed since it was read. */
export async function setHidden(
  baseUrl: string,
  account: AccountAccess,
  request: HideRequest,
  signal: AbortSignal,
): Promise<HideResult> {
  const thread = await readThread(baseUrl, account, request.mediaId, signal);
  if (thread.kind !== "thread") return thread;
  if (!startedThread(account, thread.root)) return NOT_THE_AUTHOR;
  for (let write = 0; write < MAX_WRITES; write += 1) {
    const result = await changeThreadgate(baseUrl, account, { thread, request }, signal);
    if (result.kind !== "swapped") return result;
  }
  return platformUnavailable("another program keeps changing the hidden replies of the post");
}
