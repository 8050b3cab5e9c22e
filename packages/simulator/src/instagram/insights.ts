import { type GraphCall, requireScope } from "#src/graph/endpoint.ts";
import { refuseParameter } from "#src/graph/errors.ts";
import type { Expansion } from "#src/graph/fields.ts";
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

/** One unsupported metric name fails the whole request. */
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

function insightsOf(
  { world }: InstagramNetwork,
  { asOf, token }: GraphCall,
  { id, productType }: { readonly id: string; readonly productType: PostDetail["productType"] },
  names: string,
): unknown {
  requireScope(token, "instagram_manage_insights");
  const instant = asOf - world.settings.values.insightsLagMs;
  const values = world.reactions.metricsAt("instagram", id, instant);
  const data = names.split(",").map((name) => {
    const count = METRICS[productType][name];
    const value = count === undefined ? refuseMetric(name) : count(values);
    const metricId = `${id}/insights/${name}/lifetime`;
    return { name, period: "lifetime", values: [{ value }], id: metricId };
  });
  return { data };
}

export function insightsField(
  network: InstagramNetwork,
  graphCall: GraphCall,
  post: { readonly id: string; readonly productType: PostDetail["productType"] },
): Expansion {
  return ({ modifiers }) =>
    insightsOf(network, graphCall, post, modifiers.get("metric") ?? refuseMetric(""));
}

function refuseMetric(name: string): never {
  return refuseParameter(
    `The Media Insights API does not support the ${name} metric for this media`,
  );
}
