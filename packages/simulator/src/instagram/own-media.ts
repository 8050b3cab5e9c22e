import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseObject } from "#src/graph/errors.ts";
import { PAGING, pageOf } from "#src/graph/paging.ts";
import { pickFields } from "#src/graph/parameters.ts";
import { readOperations } from "#src/graph/several-nodes.ts";
import type { Reply } from "#src/http/call.ts";
import { insightsField } from "#src/instagram/insights.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";
import { COUNTERS } from "#src/instagram/node.ts";
import { mediaView } from "#src/instagram/views.ts";
import { isVisibleAt } from "#src/world/posts.ts";

function list(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { account, parameters, asOf, id } = graphCall;
  if (id !== account.externalId) return refuseObject(id);

  parameters.checkNames(PAGING);
  const posts = network.world.posts.newestFirst(account).filter((post) => isVisibleAt(post, asOf));
  const { items, paging } = pageOf(posts, graphCall);
  const data = items.flatMap((post) => {
    const detail = network.details.find(post.id);
    if (detail === undefined) return [];

    const media = { id: post.id, productType: detail.productType };
    const insights = insightsField(network, graphCall, media);
    return pickFields(parameters, { ...mediaView(network, post, detail, account, asOf), insights });
  });
  return { status: 200, body: { data, ...paging } };
}

export function listOwnMedia(network: InstagramNetwork): GraphEndpoint {
  return {
    method: "GET",
    path: "/:id/media",
    operations: ({ query }) => readOperations(query, COUNTERS),
    reads: true,
    scope: "instagram_basic",
    handle: (graphCall) => list(network, graphCall),
  };
}
