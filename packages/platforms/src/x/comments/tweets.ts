import type { PlatformComment } from "#src/comments/connector.ts";
import {
  count,
  type JsonObject,
  list,
  maxListBytes,
  object,
  text,
  time,
} from "#src/http/platform-answer.ts";
import type { Query } from "#src/http/platform-request.ts";
import type { Caller } from "#src/publishing/caller.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { toRepeatableFailure } from "#src/x/publishing/failures.ts";
import { noteOf, readPosts } from "#src/x/read-posts.ts";

const MAX_LIST_BYTES = maxListBytes(50, 25_000);
const ID = /^\d{1,19}$/;

export const COMMENT_FIELDS = {
  "tweet.fields": "author_id,created_at,entities,note_tweet,public_metrics,referenced_tweets",
  expansions: "author_id",
  "user.fields": "username",
};

export function isTweetId(id: string): boolean {
  return ID.test(id);
}

export async function readTweets(
  x: Caller,
  path: string,
  query: Query,
): Promise<{ readonly kind: "result"; readonly json: JsonObject } | Failure> {
  const answer = await readPosts(x, { path, query, maxAnswerBytes: MAX_LIST_BYTES });
  if (answer.kind === "no_answer") return platformUnavailable(answer.message);
  return answer.status === 200 && answer.json !== undefined
    ? { kind: "result", json: answer.json }
    : toRepeatableFailure(answer);
}

/**
 * X's short links are replaced with the URLs that they lead to, links to the post's own media are
 * left out, and the three characters that X escapes are unescaped.
 */
function toText(tweet: unknown): string {
  const source = noteOf(tweet) ?? tweet;
  let shown = text(source, "text") ?? "";
  for (const link of list(object(source, "entities"), "urls")) {
    const isMedia = text(link, "media_key") !== undefined;
    const expanded = isMedia ? "" : (text(link, "expanded_url") ?? text(link, "url") ?? "");
    shown = shown.replace(text(link, "url") ?? "", () => expanded);
  }
  return shown.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&").trim();
}

export function toComment(
  tweet: unknown,
  answer: JsonObject,
  { externalId }: AccountAccess,
): PlatformComment {
  const authorId = text(tweet, "author_id") ?? null;
  const author = list(object(answer, "includes"), "users").find(
    (user) => text(user, "id") === authorId,
  );
  const counters = object(tweet, "public_metrics");
  return {
    id: text(tweet, "id") ?? "",
    text: toText(tweet),
    authorId,
    authorUsername: text(author, "username") ?? null,
    isOwn: authorId === externalId,
    createdAt: time(tweet, "created_at") ?? new Date(0),
    likeCount: count(counters, "like_count"),
    replyCount: count(counters, "reply_count"),
    hidden: null,
  };
}
