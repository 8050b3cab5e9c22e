import { callPlatform } from "#src/http/http.ts";
import type { AccountAccess, DeletionOutcome } from "#src/publishing/connector.ts";
import { reasonOf, toFailure } from "./failures.ts";

/** `DELETE /videos?id=` (platforms reference 5.3). */
export async function deleteVideo(
  baseUrl: string,
  account: AccountAccess,
  id: string,
  signal: AbortSignal,
): Promise<DeletionOutcome> {
  const headers = { authorization: `Bearer ${account.accessToken}` };
  const url = `${baseUrl}/youtube/v3/videos?id=${encodeURIComponent(id)}`;
  const answer = await callPlatform({ method: "DELETE", url, headers }, signal);
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (answer.status === 204 || reasonOf(answer) === "videoNotFound") return { kind: "deleted" };
  return toFailure(answer) ?? { kind: "unknown", message: `HTTP ${answer.status}` };
}
