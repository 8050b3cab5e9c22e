import type { NoAnswer } from "#src/http/call-platform.ts";
import {
  describeStatus,
  header,
  type PlatformAnswer,
  shorten,
  text,
} from "#src/http/platform-answer.ts";
import type { Handles } from "#src/publishing/handles.ts";
import {
  type Failure,
  limitReached,
  platformUnavailable,
  refused,
} from "#src/publishing/outcome.ts";

const DEFAULT_WAIT_MS = 60_000;
const TOKEN_ERRORS = new Set([
  "ExpiredToken",
  "InvalidToken",
  "AuthMissing",
  "AuthenticationRequired",
  "AuthRequired",
]);
const ACCOUNT_ERRORS = new Set(["AccountTakedown", "AccountDeactivated", "AccountSuspended"]);
/**
 * Matches Bluesky's validation errors about media. They are recognized by the word "blob" or "mime
 * type" in the error text, because no other field of the error shows the cause. The texts may
 * change.
 */
const ABOUT_MEDIA = /\bblob\b|mime.?type/i;
/**
 * Bluesky's error name for an uploaded file (blob) that the server deleted before the record
 * referenced it; a later attempt uploads the file again.
 */
const BLOB_GONE = "BlobNotFound";

function waitOf(answer: PlatformAnswer): number {
  const seconds = Number(header(answer, "retry-after"));
  return seconds > 0 ? seconds * 1000 : DEFAULT_WAIT_MS;
}

/**
 * After a rate limit the call is repeated, because repeating `putRecord` is harmless.
 *
 * @param withoutBlobs What is stored when the server no longer has an uploaded file.
 */
export function toFailure(
  answer: PlatformAnswer,
  name: string,
  withoutBlobs: Handles = {},
): Failure {
  const message = shorten(text(answer.json, "message") ?? name);
  if (TOKEN_ERRORS.has(name)) return { kind: "token_refused", message };
  if (ACCOUNT_ERRORS.has(name)) return refused("account_action_needed", message);
  if (answer.status === 429) return limitReached("rate_limited", message, waitOf(answer));
  if (name === BLOB_GONE) return { ...platformUnavailable(message), handles: withoutBlobs };
  if (answer.status === 413 || ABOUT_MEDIA.test(message)) return refused("media_rejected", message);
  return refused(answer.status === 403 ? "permission_missing" : "content_rejected", message);
}

export function toUploadFailure(answer: PlatformAnswer | NoAnswer): Failure {
  if (answer.kind === "no_answer") return platformUnavailable(answer.message);
  const { status } = answer;
  const name = text(answer.json, "error") ?? (status === 413 ? "PayloadTooLarge" : undefined);
  if (name === undefined || status < 400 || status >= 500)
    return platformUnavailable(name ?? describeStatus(answer));
  const failure = toFailure(answer, name);
  return failure.kind === "refused" && failure.code === "content_rejected"
    ? { ...failure, code: "media_rejected" }
    : failure;
}
