import type { CommentRef, Missing } from "#src/comments/connector.ts";
import { callPlatform } from "#src/http/call-platform.ts";
import { list, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer, jsonBody } from "#src/http/platform-request.ts";
import type { Failure, Unknown } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { toRepeatableFailure } from "../publishing/failures.ts";
import { isTweetId } from "./tweets.ts";

type HideResult = { readonly kind: "done" } | Missing | Failure | Unknown;

function isMissing(answer: PlatformAnswer): boolean {
  if (answer.status === 404) return answer.json !== undefined;
  return list(answer.json, "errors").some((error) =>
    (text(error, "type") ?? "").endsWith("/resource-not-found"),
  );
}

/** X refuses this call for replies in conversations that the account did not start. */
export async function setHidden(
  baseUrl: string,
  { accessToken }: AccountAccess,
  { commentId, hidden }: CommentRef & { readonly hidden: boolean },
  signal: AbortSignal,
): Promise<HideResult> {
  if (!isTweetId(commentId)) return { kind: "missing" };
  const url = `${baseUrl}/2/tweets/${commentId}/hidden`;
  const headers = bearer(accessToken);
  const call = { method: "PUT", url, headers, body: jsonBody({ hidden }) } as const;
  const answer = await callPlatform(call, signal);
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (object(answer.json, "data")?.hidden === hidden) return { kind: "done" };
  if (isMissing(answer)) return { kind: "missing" };
  const failure = toRepeatableFailure(answer);
  if (failure.kind === "retryable" && failure.isLimit !== true)
    return { kind: "unknown", message: failure.message };
  return failure.kind === "refused" && failure.code === "account_action_needed"
    ? { ...failure, code: "content_rejected" }
    : failure;
}
