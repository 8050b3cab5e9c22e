import { callPlatform } from "#src/http/call-platform.ts";
import { bearer } from "#src/http/platform-request.ts";
import type { DeletionOutcome } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { reasonOf, toFailure } from "./failures.ts";

export async function deletePost(
  baseUrl: string,
  { accessToken }: AccountAccess,
  id: string,
  signal: AbortSignal,
): Promise<DeletionOutcome> {
  const url = `${baseUrl}/youtube/v3/videos?id=${encodeURIComponent(id)}`;
  const headers = bearer(accessToken);
  const answer = await callPlatform({ method: "DELETE", url, headers }, signal);
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (answer.status === 204 || reasonOf(answer) === "videoNotFound") return { kind: "deleted" };
  return toFailure(answer) ?? { kind: "unknown", message: `HTTP ${answer.status}` };
}
