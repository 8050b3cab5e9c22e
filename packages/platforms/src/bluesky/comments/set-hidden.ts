import { askBluesky, toPost, type XrpcResult } from "#src/bluesky/publishing/xrpc.ts";
import type { CommentRef, Missing } from "#src/comments/connector.ts";
import { type JsonObject, list, object, text } from "#src/http/platform-answer.ts";
import type { Caller } from "#src/publishing/caller.ts";
import {
  type Failure,
  orUnknown,
  platformUnavailable,
  refused,
  type Unknown,
} from "#src/publishing/outcome.ts";
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
  bluesky: Caller,
  root: StrongRef,
): Promise<Threadgate | Failure> {
  const { account } = bluesky;
  if (!startedThread(account, root)) return NO_THREADGATE;
  const rkey = recordKeyOf(root.uri);
  const query = { repo: account.externalId, collection: COLLECTION, rkey };
  const answer = await askBluesky(bluesky, { path: "com.atproto.repo.getRecord", query });
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
  bluesky: Caller,
  root: StrongRef,
  gate: Threadgate,
  hiddenReplies: readonly string[],
): Promise<XrpcResult> {
  const created = { $type: COLLECTION, post: root.uri, createdAt: new Date().toISOString() };
  const body = {
    repo: bluesky.account.externalId,
    collection: COLLECTION,
    rkey: recordKeyOf(root.uri),
    record: { ...(gate.record ?? created), hiddenReplies },
    swapRecord: gate.cid,
  };
  return await askBluesky(bluesky, toPost("com.atproto.repo.putRecord", body));
}

/** Maximum number of hidden replies of a thread (lexicon app.bsky.feed.threadgate, 2026-08-20). */
const MAX_HIDDEN = 300;
/** Another program may change the threadgate between reading and writing. */
const MAX_WRITES = 5;

type HideRequest = CommentRef & { readonly hidden: boolean };
type HideResult = { readonly kind: "done" } | Missing | Failure | Unknown;

const DONE: HideResult = { kind: "done" };
const NOT_THE_AUTHOR = refused(
  "permission_missing",
  "only the author of the first post of a thread can hide replies in it",
);
const TOO_MANY = refused(
  "platform_quota",
  `Bluesky hides at most ${MAX_HIDDEN} replies of a post; show another reply again first`,
);

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
  return written.name === "InvalidSwap" ? { kind: "swapped" } : orUnknown(written.failure);
}

async function changeThreadgate(
  bluesky: Caller,
  thread: Thread,
  request: HideRequest,
): Promise<ReturnType<typeof toHideResult>> {
  const { root } = thread;
  const gate = await readThreadgate(bluesky, root);
  if (gate.kind !== "threadgate") return gate;
  const wanted = toHidden(thread, gate.hidden, request);
  if (wanted.kind !== "change") return wanted;
  return toHideResult(await writeThreadgate(bluesky, root, gate, wanted.hidden));
}

/** Writes the threadgate on the condition that it has not changed since it was read. */
export async function setHidden(bluesky: Caller, request: HideRequest): Promise<HideResult> {
  const thread = await readThread(bluesky, request.mediaId);
  if (thread.kind !== "thread") return thread;
  if (!startedThread(bluesky.account, thread.root)) return NOT_THE_AUTHOR;
  for (let write = 0; write < MAX_WRITES; write += 1) {
    const result = await changeThreadgate(bluesky, thread, request);
    if (result.kind !== "swapped") return result;
  }
  return platformUnavailable("another program keeps changing the hidden replies of the post");
}
