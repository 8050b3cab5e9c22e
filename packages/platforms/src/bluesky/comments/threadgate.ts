import { callPlatform } from "#src/http/call-platform.ts";
import { type JsonObject, list, object, text } from "#src/http/platform-answer.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { toRequest } from "../publishing/xrpc.ts";
import { queryBluesky, toResult, type XrpcResult } from "../xrpc-result.ts";
import { recordKeyOf, type StrongRef } from "./thread.ts";

const COLLECTION = "app.bsky.feed.threadgate";

/**
 * The threadgate of a thread: a record in the repository of the thread's author that lists the hidden replies and who may
 * reply. It has the record key of the thread's first post.
 */
export interface Threadgate {
  readonly kind: "threadgate";
  /** The stored record with all its fields; undefined when the thread has no threadgate. */
  readonly record: JsonObject | undefined;
  /** CID of the stored record, which a write must name to replace it; null when there is none. */
  readonly cid: string | null;
  /** URIs of the hidden replies of the thread. */
  readonly hidden: readonly string[];
}

const NO_THREADGATE: Threadgate = { kind: "threadgate", record: undefined, cid: null, hidden: [] };

/** Whether the account wrote the first post of a thread, so that it can hide replies in this thread. */
export function startedThread({ externalId }: AccountAccess, root: StrongRef): boolean {
  return root.uri.startsWith(`at://${externalId}/`);
}

/**
 * Reads the threadgate of a thread from the account's repository, which shows every write immediately. In the thread of
 * another author nothing can be hidden by the account, so no replies count as hidden there.
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
 * Replaces the list of hidden replies and keeps the other fields, such as who may reply. A threadgate without the field
 * `allow` lets everyone reply, as a thread without threadgate does (lexicon app.bsky.feed.threadgate, 2026-08-20).
 */
export async function writeThreadgate(
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
