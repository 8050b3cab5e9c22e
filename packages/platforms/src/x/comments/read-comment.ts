import type { CommentRef, Missing, PlatformComment } from "#src/comments/connector.ts";
import { list, text } from "#src/http/platform-answer.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { findParentId } from "../publishing/timeline.ts";
import { COMMENT_FIELDS, isTweetId, readTweets, toComment } from "./tweets.ts";

export async function readComment(
  baseUrl: string,
  account: AccountAccess,
  { mediaId, commentId }: CommentRef,
  signal: AbortSignal,
): Promise<{ readonly kind: "comment"; readonly comment: PlatformComment } | Missing | Failure> {
  if (!isTweetId(mediaId) || !isTweetId(commentId)) return { kind: "missing" };
  const query = { ...COMMENT_FIELDS, ids: `${mediaId},${commentId}` };
  const answer = await readTweets(baseUrl, account, { path: "", query }, signal);
  if (answer.kind !== "result") return answer;
  const tweets = list(answer.json, "data");
  const media = tweets.find((tweet) => text(tweet, "id") === mediaId);
  const comment = tweets.find((tweet) => text(tweet, "id") === commentId);
  const isOwned = text(media, "author_id") === account.externalId;
  return isOwned && comment !== undefined && findParentId(comment) === mediaId
    ? { kind: "comment", comment: toComment(comment, answer.json, account) }
    : { kind: "missing" };
}
