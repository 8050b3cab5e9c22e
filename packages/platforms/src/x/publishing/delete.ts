import { callPlatform } from "#src/http/http.ts";
import { list, object, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import type { AccountAccess, DeletionOutcome } from "#src/publishing/connector.ts";
import { limitedForMs, toFailure } from "./failures.ts";

/** X may say that a post is not there in an answer of its own or among the errors of a 200. */
function isGone(answer: PlatformAnswer): boolean {
  if (answer.json === undefined) return false;
  if (answer.status === 404 || object(answer.json, "data")?.deleted === true) return true;
  return list(answer.json, "errors").some((error) =>
    (text(error, "type") ?? "").endsWith("/resource-not-found"),
  );
}

/** `DELETE /2/tweets/{id}` (platforms reference 2.3). What X answers for an id that is gone is not documented. */
export async function deleteTweet(
  baseUrl: string,
  account: AccountAccess,
  id: string,
  signal: AbortSignal,
): Promise<DeletionOutcome> {
  const headers = { authorization: `Bearer ${account.accessToken}` };
  const url = `${baseUrl}/2/tweets/${encodeURIComponent(id)}`;
  const answer = await callPlatform({ method: "DELETE", url, headers }, signal);
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (answer.status < 500 && isGone(answer)) return { kind: "deleted" };
  const message = `HTTP ${answer.status}`;
  if (answer.status === 429) {
    const retryAfterMs = limitedForMs(answer);
    return { kind: "retryable", code: "rate_limited", message, retryAfterMs, isLimit: true };
  }
  const failure = answer.json === undefined ? undefined : toFailure(answer);
  return failure ?? { kind: "unknown", message };
}
