import { callPlatform } from "#src/http/call-platform.ts";
import { type JsonObject, list, object, text } from "#src/http/platform-answer.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { toRequest } from "../publishing/xrpc.ts";
import { queryBluesky, toResult, type XrpcResult } from "../xrpc-result.ts";
import { recordKeyOf, type StrongRef } from "./thread.ts";

const COLLECTION = "app.bsky.feed.threadgate";

export interface Threadgate {
  readonly kind: "threadgate";
  readonly record: JsonObject | undefined;
  readonly cid: string | null;
  readonly hidden: readonly string[];
}

const NO_THREADGATE: Threadgate = { kind: "threadgate", record: undefined, cid: null, hidden: [] };

export function startedThread({ externalId }: AccountAccess, root: StrongRef): boolean {
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
