import { callPlatform } from "#src/http/http.ts";
import { text } from "#src/http/platform-answer.ts";
import type { AccountAccess, DeletionOutcome } from "#src/publishing/connector.ts";
import { COLLECTION, lookForRecord, toFailure, toRequest } from "./xrpc.ts";

/** `deleteRecord` answers 200 also for a record that is gone (platforms reference 7.3). */
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
    return { kind: "unknown", message: name ?? `HTTP ${answer.status} without a readable answer` };
  return toFailure(answer, name);
}

/**
 * Deletes the record and looks at it once more, because a write that was lost on the way makes it again when it arrives
 * late; then it is deleted again.
 */
export async function deleteRecord(
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
      return { kind: "unknown", message: "the record could not be looked for after its deletion" };
  }
}
