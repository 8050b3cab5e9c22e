import { callPlatform } from "#src/http/call-platform.ts";
import { list, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";
import type { DeletionOutcome } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { toFailure, toLimit } from "./failures.ts";

/** With a 404, or among the errors of a 200. */
function isGone(answer: PlatformAnswer): boolean {
  if (answer.json === undefined) return false;
  if (answer.status === 404 || object(answer.json, "data")?.deleted === true) return true;
  return list(answer.json, "errors").some((error) =>
    (text(error, "type") ?? "").endsWith("/resource-not-found"),
  );
}

/** X does not document the answer for a post that no longer exists. */
export async function deletePost(
  baseUrl: string,
  account: AccountAccess,
  id: string,
  signal: AbortSignal,
): Promise<DeletionOutcome> {
  const headers = bearer(account.accessToken);
  const url = `${baseUrl}/2/tweets/${encodeURIComponent(id)}`;
  const answer = await callPlatform({ method: "DELETE", url, headers }, signal);
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (answer.status < 500 && isGone(answer)) return { kind: "deleted" };
  const message = `HTTP ${answer.status}`;
  if (answer.status === 429) return toLimit(answer, message);
  const failure = answer.json === undefined ? undefined : toFailure(answer);
  return failure ?? { kind: "unknown", message };
}
