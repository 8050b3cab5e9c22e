import {
  countFurtherCalls,
  MAX_METRICS_POSTS,
  METRICS_BUDGET,
  type MetricsSource,
  readMetrics,
} from "#src/graph-api/read-metrics.ts";
import { number } from "#src/http/platform-answer.ts";
import { apiOfAccount, type InstagramSettings } from "#src/instagram/api-of-account.ts";
import { usesInstagramLogin } from "#src/instagram/login.ts";
import { MEANINGS } from "#src/instagram/publishing/error-meanings.ts";
import type { MetricsConnector, MetricsFailure, MetricsReading } from "#src/metrics/connector.ts";
import { readListedMetrics } from "./listed-metrics.ts";

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
