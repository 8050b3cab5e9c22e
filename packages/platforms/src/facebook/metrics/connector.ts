import { MEANINGS } from "#src/facebook/publishing/error-meanings.ts";
import { type GraphApi, openGraph } from "#src/graph-api/graph-request.ts";
import {
  countFurtherCalls,
  MAX_METRICS_POSTS,
  METRICS_BUDGET,
  type MetricsSource,
  readMetrics,
} from "#src/graph-api/read-metrics.ts";
import { type JsonObject, number, object } from "#src/http/platform-answer.ts";
import {
  type MetricsConnector,
  type MetricsFailure,
  type MetricsReadings,
  toMetrics,
} from "#src/metrics/connector.ts";
import type { Caller } from "#src/publishing/caller.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

function countOf(node: JsonObject, edge: string): number | null {
  return number(object(object(node, edge), "summary"), "total_count") ?? null;
}

/** Facebook leaves `shares` out of the answer until the post is shared for the first time. */
function sharesOf(node: JsonObject): number {
  return number(object(node, "shares"), "count") ?? 0;
}

/**
 * Facebook removed all metrics of impressions on 2026-06-15; a request for one of them fails as a
 * whole. Facebook does not count saves.
 */
const SOURCE: MetricsSource = {
  counters: "reactions.summary(total_count).limit(0),comments.summary(total_count).limit(0),shares",
  insights: ["post_media_view", "post_total_media_view_unique"],
  own: MEANINGS,
  toMetrics: (node, insights) =>
    toMetrics({
      views: insights.get("post_media_view") ?? null,
      reach: insights.get("post_total_media_view_unique") ?? null,
      likes: countOf(node, "reactions"),
      comments: countOf(node, "comments"),
      shares: sharesOf(node),
    }),
};

/**
 * What is read about a video whose post cannot be found by the id of the video: its likes and
 * comments only.
 */
const VIDEO_SOURCE: MetricsSource = {
  counters: "likes.summary(total_count).limit(0),comments.summary(total_count).limit(0)",
  insights: [],
  own: MEANINGS,
  toMetrics: (node) =>
    toMetrics({ likes: countOf(node, "likes"), comments: countOf(node, "comments") }),
};

/** The metrics of a video are found under the id of its post, `<page>_<video>`. */
function postIdOf({ externalId }: AccountAccess, id: string): string {
  return id.includes("_") ? id : `${externalId}_${id}`;
}

/**
 * Reads the videos whose posts were not found. The post of a reel may have an id that cannot be
 * derived from the id of the reel, so a video is missing only if it cannot be read either.
 */
async function readVideos(
  graph: Caller,
  readings: MetricsReadings,
  onCall: () => void,
): Promise<MetricsReadings | MetricsFailure> {
  const ids = [...readings]
    .filter(([id, { kind }]) => kind === "missing" && !id.includes("_"))
    .map(([id]) => id);
  if (ids.length === 0) return readings;
  const read = await readMetrics(graph, ids, VIDEO_SOURCE, onCall);
  return "kind" in read ? read : new Map([...readings, ...read]);
}

export function createFacebookMetricsConnector(api: GraphApi): MetricsConnector {
  return {
    platform: "facebook",
    maxPosts: MAX_METRICS_POSTS,
    budget: METRICS_BUDGET,
    readMetrics: async (account, externalIds, signal, onFurtherCall) => {
      const graph = openGraph(api, account, signal);
      const onCall = countFurtherCalls(onFurtherCall);
      const ids = externalIds.map((id) => postIdOf(account, id));
      const read = await readMetrics(graph, ids, SOURCE, onCall);
      if ("kind" in read) return read;
      const readings = externalIds.flatMap((id) => {
        const reading = read.get(postIdOf(account, id));
        return reading === undefined ? [] : [[id, reading] as const];
      });
      return await readVideos(graph, new Map(readings), onCall);
    },
  };
}
