import type { CommentRef, Missing, PlatformComment } from "#src/comments/connector.ts";
import { list } from "#src/http/platform-answer.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { readYoutube } from "./calls.ts";
import { toThreadComment, toVideoComment, type VideoComment } from "./threads.ts";

const NOT_FOUND: ReadonlySet<string> = new Set(["commentThreadNotFound", "commentNotFound"]);

/** Only a thread states the number of replies. */
const RESOURCES = [
  { path: "commentThreads", parse: toThreadComment },
  // YouTube does not document whether the thread of a hidden comment can be read by its id, so the
  // comment itself is read when its thread is not found. The comment names the channel, but not
  // always the video.
  { path: "comments", parse: (resource: unknown) => toVideoComment(resource, null) },
] as const;

/** YouTube states the channel of the video, which must be the account's. */
export async function readComment(
  baseUrl: string,
  account: AccountAccess,
  { mediaId, commentId }: CommentRef,
  signal: AbortSignal,
): Promise<{ readonly kind: "comment"; readonly comment: PlatformComment } | Missing | Failure> {
  const query = { part: "snippet", id: commentId, textFormat: "plainText" };
  for (const { path, parse } of RESOURCES) {
    const answer = await readYoutube(baseUrl, account, { path, query }, signal);
    if (answer.kind === "failed") {
      if (NOT_FOUND.has(answer.reason)) continue;
      return answer.failure;
    }
    const found: VideoComment | undefined = parse(list(answer.json, "items")[0]);
    if (found?.comment.id !== commentId) continue;
    const isOwned =
      found.channelId === account.externalId && (found.videoId ?? mediaId) === mediaId;
    return isOwned ? { kind: "comment", comment: found.comment } : { kind: "missing" };
  }
  return { kind: "missing" };
}
