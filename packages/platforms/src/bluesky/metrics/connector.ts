import { timeOfTid } from "#src/bluesky/publishing/put-post.ts";
import {
  COLLECTION,
  isOwnersHost,
  lookForRecord,
  openBluesky,
  toResult,
} from "#src/bluesky/publishing/xrpc.ts";
import { list, MAX_ANSWER_BYTES, text } from "#src/http/platform-answer.ts";
import {
  type MetricsConnector,
  type MetricsFailure,
  type MetricsReading,
  type MetricsReadings,
  type OnFurtherCall,
  sumOf,
  toMetrics,
  toMetricsFailure,
} from "#src/metrics/connector.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";

/** Bluesky's limit (`getPosts`). */
const MAX_POSTS = 25;

/**
 * A third of Bluesky's 3,000 calls in five minutes. Calls are counted by IP address, so all
 * accounts of an installation share the limit.
 */
const BUDGET = { scope: "app", calls: 1000, windowMs: 5 * 60_000 } as const;

/** Normally Bluesky shows a post within seconds. */
const INDEXED_AFTER_MS = 3_600_000;

function toReading(post: unknown): MetricsReading {
  const metrics = toMetrics({
    likes: sumOf(post, "likeCount"),
    comments: sumOf(post, "replyCount"),
    shares: sumOf(post, "repostCount", "quoteCount"),
    saves: sumOf(post, "bookmarkCount"),
  });
  return { kind: "metrics", metrics };
}

/**
 * Deleted, not shown yet, or hidden by Bluesky. The account's repository shows every write
 * immediately.
 */
async function explainAbsence(bluesky: Caller, rkey: string): Promise<MetricsReading> {
  switch (await lookForRecord(bluesky, rkey)) {
    case "gone":
      return { kind: "missing" };
    case "unreadable":
      return { kind: "failed", message: "the record of the post could not be read" };
    case "present":
      return Date.now() - timeOfTid(rkey).getTime() < INDEXED_AFTER_MS
        ? { kind: "no_answer", message: "Bluesky does not show the post yet" }
        : { kind: "refused", code: "content_rejected", message: "Bluesky does not show the post" };
  }
}

async function readMetrics(
  bluesky: Caller,
  ids: readonly string[],
  onFurtherCall?: OnFurtherCall,
): Promise<MetricsReadings | MetricsFailure> {
  const toUri = (rkey: string) => `at://${bluesky.account.externalId}/${COLLECTION}/${rkey}`;
  const query = new URLSearchParams(ids.map((id): [string, string] => ["uris", toUri(id)]));
  const path = `app.bsky.feed.getPosts?${query.toString()}`;
  const answer = await ask(bluesky, { path, maxAnswerBytes: MAX_ANSWER_BYTES });
  if (answer.kind === "no_answer") return toMetricsFailure(answer);
  const result = toResult(answer);
  if (result.kind === "failed") return toMetricsFailure(result.failure);
  if (!Array.isArray(result.json.posts))
    return { kind: "failed", message: "Bluesky's answer contains no list of posts" };
  const posts = new Map(list(result.json, "posts").map((post) => [text(post, "uri"), post]));
  const readings = ids.map(async (id): Promise<readonly [string, MetricsReading]> => {
    const post = posts.get(toUri(id));
    if (post !== undefined) return [id, toReading(post)];
    onFurtherCall?.(1);
    return [id, await explainAbsence(bluesky, id)];
  });
  return new Map(await Promise.all(readings));
}

export function createBlueskyMetricsConnector({
  baseUrl,
}: {
  readonly baseUrl: string;
}): MetricsConnector {
  return {
    platform: "bluesky",
    maxPosts: MAX_POSTS,
    budget: BUDGET,
    isForeignHost: isOwnersHost,
    readMetrics: (account, ids, signal, onFurtherCall) =>
      readMetrics(openBluesky(baseUrl)(account, signal), ids, onFurtherCall),
  };
}
