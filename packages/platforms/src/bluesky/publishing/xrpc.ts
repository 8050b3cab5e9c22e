import { callPlatform, type NoAnswer, type PlatformRequest } from "#src/http/http.ts";
import { header, shorten, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { jsonBody } from "#src/http/request-body.ts";
import type { AccountAccess, Failure } from "#src/publishing/connector.ts";

export const COLLECTION = "app.bsky.feed.post";
const TOKEN_ERRORS = new Set([
  "ExpiredToken",
  "InvalidToken",
  "AuthMissing",
  "AuthenticationRequired",
  "AuthRequired",
]);
const ACCOUNT_ERRORS = new Set(["AccountTakedown", "AccountDeactivated", "AccountSuspended"]);
/** The texts are no contract; "blob" in one is all that tells what a validation error is about. */
const ABOUT_MEDIA = /\bblob\b|mime.?type/i;
/** The file was dropped before the record named it: it is uploaded again with a later try. */
const BLOB_GONE = "BlobNotFound";

/** Where the account's repository answers. */
export function hostOf(baseUrl: string, account: AccountAccess): string {
  return account.attributes.pdsUrl ?? baseUrl;
}

/** The owner of an account says in its DID document where its repository is. */
export function isForeign({ attributes }: AccountAccess): boolean {
  return attributes.pdsUrl !== undefined;
}

/** A call of a procedure in the account's name. */
export function toRequest(
  baseUrl: string,
  account: AccountAccess,
  method: string,
  body: unknown,
): PlatformRequest {
  return {
    method: "POST",
    url: `${hostOf(baseUrl, account)}/xrpc/${method}`,
    isForeign: isForeign(account),
    headers: { authorization: `Bearer ${account.accessToken}` },
    body: jsonBody(body),
  };
}

/** What an XRPC error means (platforms reference 7.7). Repeating `putRecord` is harmless, so a limit is a plain wait. */
export function toFailure(answer: PlatformAnswer, name: string): Failure {
  const message = shorten(text(answer.json, "message") ?? name);
  if (TOKEN_ERRORS.has(name)) return { kind: "token_refused", message };
  if (ACCOUNT_ERRORS.has(name)) return { kind: "refused", code: "account_action_needed", message };
  if (answer.status === 429) {
    const seconds = Number(header(answer, "retry-after"));
    return {
      kind: "retryable",
      code: "rate_limited",
      message,
      retryAfterMs: seconds > 0 ? seconds * 1000 : 60_000,
      isLimit: true,
    };
  }
  if (name === BLOB_GONE) return { kind: "retryable", code: "platform_unavailable", message };
  if (answer.status === 413 || ABOUT_MEDIA.test(message))
    return { kind: "refused", code: "media_rejected", message };
  if (answer.status === 403) return { kind: "refused", code: "permission_missing", message };
  return { kind: "refused", code: "content_rejected", message };
}

/** Nothing is visible because of an upload, so what is not definite is tried again. */
export function toUploadFailure(answer: PlatformAnswer | NoAnswer): Failure {
  if (answer.kind === "no_answer")
    return { kind: "retryable", code: "platform_unavailable", message: answer.message };
  const { status } = answer;
  const name = text(answer.json, "error") ?? (status === 413 ? "PayloadTooLarge" : undefined);
  if (name === undefined || status < 400 || status >= 500) {
    const message = name ?? `HTTP ${status} without a readable answer`;
    return { kind: "retryable", code: "platform_unavailable", message };
  }
  const failure = toFailure(answer, name);
  return failure.kind === "refused" && failure.code === "content_rejected"
    ? { ...failure, code: "media_rejected" }
    : failure;
}

/** Whether the record is there. Nobody else knows our keys, so what is there is ours. */
export async function lookForRecord(
  baseUrl: string,
  account: AccountAccess,
  rkey: string,
  signal: AbortSignal,
): Promise<"present" | "gone" | "unreadable"> {
  const query = new URLSearchParams({ repo: account.externalId, collection: COLLECTION, rkey });
  const url = `${hostOf(baseUrl, account)}/xrpc/com.atproto.repo.getRecord?${query.toString()}`;
  const call = { method: "GET", url, isForeign: isForeign(account) } as const;
  const answer = await callPlatform(call, signal);
  if (answer.kind === "no_answer") return "unreadable";
  if (answer.status === 200 && text(answer.json, "uri") !== undefined) return "present";
  return text(answer.json, "error") === "RecordNotFound" ? "gone" : "unreadable";
}
