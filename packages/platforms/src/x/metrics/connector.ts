import { list, object, shorten, text } from "#src/http/platform-answer.ts";
import {
  type MetricsConnector,
  type MetricsFailure,
  type MetricsReading,
  type MetricsReadings,
  sumOf,
  toMetrics,
  toMetricsFailure,
} from "#src/metrics/connector.ts";
import { type Caller, forAccounts, openAt, type PlatformAddress } from "#src/publishing/caller.ts";
import { toRepeatableFailure } from "#src/x/publishing/failures.ts";
import { readPosts } from "#src/x/read-posts.ts";

const MAX_POSTS = 100;

/**
 * X charges for every post that is read and allows an app 3 million posts a month; this budget
 * allows 1.9 million in 30 days, and comments may read a million. The limit per user is far higher.
 * With a window of an hour, a full call fits into half of what may be used at once.
 */
const BUDGET = { scope: "app", calls: 2_600, windowMs: 3_600_000, isPerPost: true } as const;

function toReading(tweet: unknown): MetricsReading {
  const counters = object(tweet, "public_metrics");
  if (counters === undefined) return { kind: "failed", message: "X sent a post without counters" };
  const metrics = toMetrics({
    impressions: sumOf(counters, "impression_count"),
    likes: sumOf(counters, "like_count"),
    comments: sumOf(counters, "reply_count"),
    shares: sumOf(
      counters,
      "repost_count" in counters ? "repost_count" : "retweet_count",
      "quote_count",
    ),
    saves: sumOf(counters, "bookmark_count"),
  });
  return { kind: "metrics", metrics };
}

function toError(error: unknown): MetricsReading {
  if ((text(error, "type") ?? "").endsWith("/resource-not-found")) return { kind: "missing" };
  const message = shorten(text(error, "detail") ?? text(error, "title"));
  return { kind: "refused", code: "account_action_needed", message };
}

async function readMetrics(
  x: Caller,
  ids: readonly string[],
): Promise<MetricsReadings | MetricsFailure> {
  const query = { ids: ids.join(","), "tweet.fields": "public_metrics" };
  const answer = await readPosts(x, { path: "2/tweets", query });
  if (answer.kind === "no_answer") return toMetricsFailure(answer);
  const { json } = answer;
  if (answer.status !== 200 || json === undefined)
    return toMetricsFailure(toRepeatableFailure(answer));
  const errors = new Map(list(json, "errors").map((error) => [text(error, "resource_id"), error]));
  const tweets = new Map(list(json, "data").map((tweet) => [text(tweet, "id"), tweet]));
  return new Map(
    ids.map((id) => {
      if (tweets.has(id)) return [id, toReading(tweets.get(id))];
      return errors.has(id)
        ? [id, toError(errors.get(id))]
        : [id, { kind: "failed", message: "X's answer does not mention the post" }];
    }),
  );
}

/** Public counters only: X keeps the private ones for 30 days. */
export function createXMetricsConnector({ baseUrl }: PlatformAddress): MetricsConnector {
  return {
    platform: "x",
    maxPosts: MAX_POSTS,
    budget: BUDGET,
    ...forAccounts(openAt(baseUrl), { readMetrics }),
  };
}
