import {
  countFurtherCalls,
  MAX_METRICS_POSTS,
  METRICS_BUDGET,
  type MetricsSource,
  readMetrics,
  toFields,
  toPostMetrics,
} from "#src/graph-api/read-metrics.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { number } from "#src/http/platform-answer.ts";
import {
  type InstagramSettings,
  openOfAccount,
  usesInstagramLogin,
} from "#src/instagram/api-of-account.ts";
import { type MediaPage, readAnother, readMediaPage } from "#src/instagram/media-list.ts";
import { MEANINGS } from "#src/instagram/publishing/error-meanings.ts";
import {
  type MetricsConnector,
  type MetricsFailure,
  type MetricsReading,
  type MetricsReadings,
  toMetrics,
  toMetricsFailure,
} from "#src/metrics/connector.ts";
import type { Caller } from "#src/publishing/caller.ts";
import type { Failure } from "#src/publishing/outcome.ts";

/**
 * 50 posts a day for the week in which metrics of a post are refreshed; older posts are not found.
 */
const MAX_PAGES = 14;

const MISSING: MetricsReading = { kind: "missing" };
/**
 * The code concerns only the post; one that concerns the account would pause the metrics of all its
 * posts.
 */
const TOO_OLD: MetricsReading = {
  kind: "refused",
  code: "content_rejected",
  message:
    "Instagram refuses the token of the Page to read single posts (error 100/33), and the post is not among the newest posts of the account",
};

type OnCall = (posts?: number) => void;

async function readPageWithInsights(
  graph: Caller,
  after: string | undefined,
  onCall: OnCall,
): Promise<MediaPage | Failure | NoAnswer> {
  const { all, counters } = toFields(SOURCE);
  const readFields = (fields: string) => {
    onCall(MAX_METRICS_POSTS);
    return readMediaPage(graph, { fields, limit: MAX_METRICS_POSTS, after });
  };
  const page = await readFields(all);
  return page.kind === "refused" ? await readFields(counters) : page;
}

/**
 * Reads the metrics of posts that Instagram does not find by their ids from the list of the
 * account's posts.
 *
 * Since 2026-05-23, Instagram refuses some Page tokens the reading of single posts as if they did
 * not exist (error 100/33), while it still lists them with the same fields. Source:
 * github.com/gitroomhq/postiz-app/issues/1562 and
 * github.com/geoff-maddock/events-tracker/issues/1900. Posts are missing only if a listed post can
 * be read by id, or if the whole list does not have them. What was read before a failure is kept.
 */
async function readListedMetrics(
  graph: Caller,
  ids: readonly string[],
  onCall: OnCall,
): Promise<MetricsReadings> {
  const found = new Map<string, MetricsReading>();
  const fill = (rest: MetricsReading) => new Map(ids.map((id) => [id, found.get(id) ?? rest]));
  let after: string | undefined;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const page = await readPageWithInsights(graph, after, onCall);
    if (page.kind !== "page") return fill(toMetricsFailure(page));
    const posts = page.posts.filter(({ id }) => ids.includes(String(id)));
    for (const post of posts) found.set(String(post.id), toPostMetrics(post, SOURCE));
    const isOver = ids.every((id) => found.has(id)) || page.after === undefined;
    if (isOver) return fill(MISSING);
    if (count === 0 && found.size === 0) {
      const another = await readAnother(graph, page, ids, onCall);
      if (another.kind !== "hidden")
        return fill(another.kind === "shown" ? MISSING : toMetricsFailure(another));
    }
    ({ after } = page);
  }
  return fill(TOO_OLD);
}

/**
 * A request for a metric that one media type does not have fails as a whole, so only the names that
 * images, carousels and reels share are requested. `views` replaced `impressions` (2025-04-21).
 */
const SOURCE: MetricsSource = {
  counters: "like_count,comments_count",
  insights: ["views", "reach", "likes", "comments", "shares", "saved"],
  own: MEANINGS,
  toMetrics: (node, insights) =>
    toMetrics({
      views: insights.get("views") ?? null,
      reach: insights.get("reach") ?? null,
      likes: insights.get("likes") ?? number(node, "like_count") ?? null,
      comments: insights.get("comments") ?? number(node, "comments_count") ?? null,
      shares: insights.get("shares") ?? null,
      saves: insights.get("saved") ?? null,
    }),
};

function areAllMissing(read: MetricsReadings | MetricsFailure): boolean {
  return !("kind" in read) && [...read.values()].every(({ kind }) => kind === "missing");
}

export function createInstagramMetricsConnector(settings: InstagramSettings): MetricsConnector {
  return {
    platform: "instagram",
    maxPosts: MAX_METRICS_POSTS,
    budget: METRICS_BUDGET,
    readMetrics: async (account, ids, signal, onFurtherCall) => {
      const graph = openOfAccount(settings)(account, signal);
      const onCall = countFurtherCalls(onFurtherCall);
      const read = await readMetrics(graph, ids, SOURCE, onCall);
      const mayBeRefused = areAllMissing(read) && !usesInstagramLogin(account);
      return mayBeRefused ? await readListedMetrics(graph, ids, onCall) : read;
    },
  };
}
