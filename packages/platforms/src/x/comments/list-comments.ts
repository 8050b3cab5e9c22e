import type { CommentPage, CommentQuery, Missing } from "#src/comments/connector.ts";
import { list, object, text } from "#src/http/platform-answer.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { findParentId } from "../publishing/timeline.ts";
import { COMMENT_FIELDS, isTweetId, readTweets, toComment } from "./tweets.ts";

const MIN_RESULTS = 10;

/**
 * X's search also finds replies to posts of others. X answers 200 with an `errors` list for posts
 * that the account may not see.
 */
async function checkOwner(
  baseUrl: string,
  account: AccountAccess,
  mediaId: string,
  signal: AbortSignal,
): Promise<{ readonly kind: "owned" } | Missing | Failure> {
  const query = { "tweet.fields": "author_id" };
  const answer = await readTweets(baseUrl, account, { path: `/${mediaId}`, query }, signal);
  if (answer.kind !== "result") return answer;
  const authorId = text(object(answer.json, "data"), "author_id");
  return authorId === account.externalId ? { kind: "owned" } : { kind: "missing" };
}

/**
 * X's recent search reaches no further back. X charges for each result, so only direct replies are
 * asked for. `after` is the id of the last reply of the previous page: ids grow with time, so a
 * page can begin below any id.
 */
export async function listComments(
  baseUrl: string,
  account: AccountAccess,
  { mediaId, limit, after }: CommentQuery,
  signal: AbortSignal,
): Promise<CommentPage | Missing | Failure> {
  if (!isTweetId(mediaId)) return { kind: "missing" };
  const owner = await checkOwner(baseUrl, account, mediaId, signal);
  if (owner.kind !== "owned") return owner;
  const query = {
    ...COMMENT_FIELDS,
    query: `in_reply_to_tweet_id:${mediaId}`,
    max_results: String(Math.max(MIN_RESULTS, limit)),
    ...(after === undefined ? {} : { until_id: after }),
  };
  const answer = await readTweets(baseUrl, account, { path: "/search/recent", query }, signal);
  if (answer.kind !== "result") return answer;
  const found = list(answer.json, "data").filter((tweet) => findParentId(tweet) === mediaId);
  const comments = found.slice(0, limit).map((tweet) => toComment(tweet, answer.json, account));
  const meta = object(answer.json, "meta");
  const next =
    found.length > limit
      ? comments.at(-1)?.id
      : text(meta, "next_token") && text(meta, "oldest_id");
  return { kind: "page", comments, next };
}
