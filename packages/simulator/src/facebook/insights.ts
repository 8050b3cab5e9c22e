import type { FacebookNetwork } from "#src/facebook/network.ts";
import { type GraphCall, requireScope } from "#src/graph/endpoint.ts";
import { refuseObject, refuseParameter } from "#src/graph/errors.ts";
import type { Expansion } from "#src/graph/fields.ts";
import type { MetricValues } from "#src/world/reactions.ts";

/**
 * The metrics that Facebook supports since 2026-06-15. One unknown metric name fails the whole
 * request.
 */
const METRICS: Readonly<Record<string, (values: MetricValues) => unknown>> = {
  post_media_view: ({ views = 0 }) => views,
  post_total_media_view_unique: ({ reach = 0 }) => reach,
  post_clicks: () => 0,
  post_clicks_by_type: () => ({}),
  post_reactions_by_type_total: ({ likes = 0 }) => ({ like: likes }),
  post_video_views: ({ views = 0 }) => views,
  post_activity_by_action_type: ({ likes = 0, comments = 0, shares = 0 }) => ({
    like: likes,
    comment: comments,
    share: shares,
  }),
};

function insightsOf(
  { world }: FacebookNetwork,
  { asOf, token, account }: GraphCall,
  postId: string,
  names: string,
): unknown {
  requireScope(token, "read_insights");
  if (world.posts.get(account, postId) === undefined) refuseObject(postId);

  const instant = asOf - world.settings.values.insightsLagMs;
  const values = world.reactions.metricsAt("facebook", postId, instant);
  const data = names.split(",").map((name) => {
    const count = METRICS[name];
    const value = count?.(values) ?? refuseParameter("The value must be a valid insights metric");
    const id = `${postId}/insights/${name}/lifetime`;
    return { name, period: "lifetime", values: [{ value }], id };
  });
  return { data };
}

/** Insights lag behind the post's real metrics. */
export function insightsField(
  network: FacebookNetwork,
  graphCall: GraphCall,
  postId: string,
): Expansion {
  return ({ modifiers }) => insightsOf(network, graphCall, postId, modifiers.get("metric") ?? "");
}
