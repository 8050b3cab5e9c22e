import type { CommentRef, Missing } from "#src/comments/connector.ts";
import { callPlatform } from "#src/http/call-platform.ts";
import { bearer } from "#src/http/platform-request.ts";
import type { Failure, Unknown } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { reasonOf, toStepFailure } from "../publishing/failures.ts";

/** `heldForReview` hides a comment, because `rejected` cannot be undone. */
export async function setHidden(
  baseUrl: string,
  { accessToken }: AccountAccess,
  { commentId, hidden }: CommentRef & { readonly hidden: boolean },
  signal: AbortSignal,
): Promise<{ readonly kind: "done" } | Missing | Failure | Unknown> {
  const moderationStatus = hidden ? "heldForReview" : "published";
  const query = new URLSearchParams({ id: commentId, moderationStatus });
  const url = `${baseUrl}/youtube/v3/comments/setModerationStatus?${query.toString()}`;
  const headers = bearer(accessToken);
  const answer = await callPlatform({ method: "POST", url, headers }, signal);
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (answer.status === 204) return { kind: "done" };
  if (reasonOf(answer) === "commentNotFound") return { kind: "missing" };
  const failure = toStepFailure(answer);
  return failure.kind === "retryable" && failure.isLimit !== true
    ? { kind: "unknown", message: failure.message }
    : failure;
}
