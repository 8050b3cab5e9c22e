import { findVisiblePost } from "#src/facebook/comments.ts";
import type { FacebookNetwork } from "#src/facebook/network.ts";
import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseObject, refuseParameter } from "#src/graph/errors.ts";
import type { Reply } from "#src/http/call.ts";
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

function list(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters, id } = graphCall;
  parameters.checkNames(["metric", "period"]);
  const post = findVisiblePost(network, graphCall) ?? refuseObject(id);
  const values = network.world.reactions.metricsOf("facebook", post.id);
  const data = parameters
    .required("metric")
    .split(",")
    .map((name) => {
      const count = METRICS[name];
      return count === undefined
        ? refuseParameter("The value must be a valid insights metric")
        : {
            name,
            period: "lifetime",
            values: [{ value: count(values) }],
            id: `${id}/insights/${name}/lifetime`,
          };
    });
  return { status: 200, body: { data } };
}

/** `GET /{post}/insights`: reads metrics of a Facebook post. */
export function readInsights(network: FacebookNetwork): GraphEndpoint {
  return {
    method: "GET",
    path: "/:id/insights",
    operations: () => ["metrics"],
    reads: true,
    scope: "read_insights",
    handle: (graphCall) => list(network, graphCall),
  };
}
