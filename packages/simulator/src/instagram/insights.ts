import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseObject, refuseParameter } from "#src/graph/errors.ts";
import type { Reply } from "#src/http/call.ts";
import { findPost } from "#src/instagram/network.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";
import type { PostDetail } from "#src/instagram/post-details.ts";
import type { MetricValues } from "#src/world/reactions.ts";

type Metrics = Readonly<Record<string, (values: MetricValues) => number>>;

const COMMON_METRICS: Metrics = {
  views: ({ views, impressions }) => views ?? impressions ?? 0,
  reach: ({ reach = 0 }) => reach,
  likes: ({ likes = 0 }) => likes,
  comments: ({ comments = 0 }) => comments,
  shares: ({ shares = 0 }) => shares,
  saved: ({ saves = 0 }) => saves,
  total_interactions: ({ likes = 0, comments = 0, shares = 0, saves = 0 }) =>
    likes + comments + shares + saves,
};
const notSimulated = () => 0;

/**
 * Metrics of each product type of an Instagram post. One unsupported metric name fails the whole
 * request.
 */
const METRICS: Readonly<Record<PostDetail["productType"], Metrics>> = {
  FEED: {
    ...COMMON_METRICS,
    profile_visits: notSimulated,
    follows: notSimulated,
    reposts: notSimulated,
  },
  REELS: {
    ...COMMON_METRICS,
    ig_reels_avg_watch_time: notSimulated,
    ig_reels_video_view_total_time: notSimulated,
    reels_skip_rate: notSimulated,
  },
};

function list(network: InstagramNetwork, { parameters, id, account }: GraphCall): Reply {
  parameters.checkNames(["metric", "period"]);
  const found = findPost(network, account, id);
  if (found === undefined || found.post.deletedAt !== null) {
    return refuseObject(id);
  }
  const values = network.world.reactions.metricsOf("instagram", id);
  const data = parameters
    .required("metric")
    .split(",")
    .map((name) => {
      const count = METRICS[found.detail.productType][name];
      const value = count === undefined ? refuseMetric(name) : count(values);
      const metricId = `${id}/insights/${name}/lifetime`;
      return { name, period: "lifetime", values: [{ value }], id: metricId };
    });
  return { status: 200, body: { data } };
}

function refuseMetric(name: string): never {
  return refuseParameter(
    `The Media Insights API does not support the ${name} metric for this media`,
  );
}

/** `GET /:media/insights`: reads metrics of an Instagram post. */
export function readInsights(network: InstagramNetwork): GraphEndpoint {
  return {
    method: "GET",
    path: "/:id/insights",
    operations: () => ["metrics"],
    reads: true,
    scope: "instagram_manage_insights",
    handle: (graphCall) => list(network, graphCall),
  };
}
