import { callPlatform } from "#src/http/call-platform.ts";
import { describeStatus, shorten, text } from "#src/http/platform-answer.ts";
import type { DeletionOutcome } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { toFailure } from "./failures.ts";
import { COLLECTION, lookForRecord, toRequest } from "./xrpc.ts";

async function deleteOnce(
  baseUrl: string,
  account: AccountAccess,
  rkey: string,
  signal: AbortSignal,
): Promise<DeletionOutcome> {
  const body = { repo: account.externalId, collection: COLLECTION, rkey };
  const method = "com.atproto.repo.deleteRecord";
  const answer = await callPlatform(toRequest(baseUrl, account, method, body), signal);
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (answer.status === 200 && answer.json !== undefined) return { kind: "deleted" };
  const name = text(answer.json, "error");
  if (name === undefined || answer.status < 400 || answer.status >= 500)
    return { kind: "unknown", message: shorten(name ?? describeStatus(answer)) };
  return toFailure(answer, name);
}

/**
 * A delayed write may arrive after the deletion and create the record again, so the record is read,
 * and deleted once more if it is there.
 */
export async function deletePost(
  baseUrl: string,
  account: AccountAccess,
  rkey: string,
  signal: AbortSignal,
): Promise<DeletionOutcome> {
  const first = await deleteOnce(baseUrl, account, rkey, signal);
  if (first.kind !== "deleted") return first;
  switch (await lookForRecord(baseUrl, account, rkey, signal)) {
    case "gone":
      return first;
    case "present":
      return await deleteOnce(baseUrl, account, rkey, signal);
    case "unreadable":
      return { kind: "unknown", message: "the record could not be read back after its deletion" };
  }
}
