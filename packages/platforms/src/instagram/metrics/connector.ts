import type { GraphApi } from "#src/graph-api/graph-request.ts";
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
import { number, text } from "#src/http/platform-answer.ts";
import {
  apiOfAccount,
  type InstagramSettings,
  usesInstagramLogin,
} from "#src/instagram/api-of-account.ts";
import { type MediaPage, readAnother, readMediaPage } from "#src/instagram/media-list.ts";
import { MEANINGS } from "#src/instagram/publishing/error-meanings.ts";
import {
  type MetricsConnector,
  type MetricsFailure,
  type MetricsReading,
  toMetricsFailure,
} from "#src/metrics/connector.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

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

interface Query {
  readonly ids: readonly string[];
  readonly source: MetricsSource;
  readonly onCall: (posts?: number) => void;
}

async function readPageWithInsights(
  api: GraphApi,
  account: AccountAccess,
  after: string | undefined,
  query: Query,
  signal: AbortSignal,
): Promise<MediaPage | Failure | NoAnswer> {
  const { all, counters } = toFields(query.source);
  const readFields = (fields: string) => {
    query.onCall(MAX_METRICS_POSTS);
    return readMediaPage(api, account, { fields, limit: MAX_METRICS_POSTS, after }, signal);
  };
  const page = await readFields(all);
  return page.kind === "refused" ? await readFields(counters) : page;
}

function pickMetrics(
  { posts }: MediaPage,
  { ids, source }: Query,
): readonly (readonly [string, MetricsReading])[] {
  return posts.flatMap((post) => {
    const id = text(post, "id") ?? "";
    return ids.includes(id) ? [[id, toPostMetrics(post, source)] as const] : [];
  });
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
  api: GraphApi,
  account: AccountAccess,
  query: Query,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, MetricsReading>> {
  const { ids, onCall } = query;
  const found = new Map<string, MetricsReading>();
  const fill = (rest: MetricsReading) => new Map(ids.map((id) => [id, found.get(id) ?? rest]));
  let after: string | undefined;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const page = await readPageWithInsights(api, account, after, query, signal);
    if (page.kind !== "page") return fill(toMetricsFailure(page));
    for (const [id, reading] of pickMetrics(page, query)) found.set(id, reading);
    const isOver = ids.every((id) => found.has(id)) || page.after === undefined;
    if (isOver) return fill(MISSING);
    if (count === 0 && found.size === 0) {
      const another = await readAnother(api, account, { page, ids, onCall }, signal);
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
  toMetrics: (node, insights) => ({
    views: insights.get("views") ?? null,
    impressions: null,
    reach: insights.get("reach") ?? null,
    likes: insights.get("likes") ?? number(node, "like_count") ?? null,
    comments: insights.get("comments") ?? number(node, "comments_count") ?? null,
    shares: insights.get("shares") ?? null,
    saves: insights.get("saved") ?? null,
  }),
};

function areAllMissing(
  read: ReadonlyMap<string, MetricsReading> | MetricsFailure,
): read is ReadonlyMap<string, MetricsReading> {
  return !("kind" in read) && [...read.values()].every(({ kind }) => kind === "missing");
}

export function createInstagramMetricsConnector(settings: InstagramSettings): MetricsConnector {
  return {
    platform: "instagram",
    maxPosts: MAX_METRICS_POSTS,
    budget: METRICS_BUDGET,
    readMetrics: async (account, ids, signal, onFurtherCall) => {
      const api = apiOfAccount(settings, account);
      const query = { ids, source: SOURCE, onCall: countFurtherCalls(onFurtherCall) };
      const read = await readMetrics(api, account, query, signal);
      const mayBeRefused = areAllMissing(read) && !usesInstagramLogin(account);
      return mayBeRefused ? await readListedMetrics(api, account, query, signal) : read;
    },
  };
}
