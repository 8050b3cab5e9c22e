import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseObject } from "#src/graph/errors.ts";
import { PAGING, pageOf } from "#src/graph/paging.ts";
import { pickFields } from "#src/graph/parameters.ts";
import type { Reply } from "#src/http/call.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";
import { mediaView } from "#src/instagram/views.ts";
import { isVisibleAt } from "#src/world/posts.ts";

function list(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { account, parameters, asOf, id } = graphCall;
  if (id !== account.externalId) {
    return refuseObject(id);
  }
  parameters.checkNames(PAGING);
  const posts = network.world.posts.newestFirst(account).filter((post) => isVisibleAt(post, asOf));
  const { items, paging } = pageOf(posts, graphCall);
  const data = items.flatMap((post) => {
    const detail = network.details.find(post.id);
    return detail === undefined
      ? []
      : pickFields(parameters, mediaView(network, post, detail, account, asOf));
  });
  return { status: 200, body: { data, ...paging } };
}

/** `GET /:account/media`: lists the account's Instagram posts, newest first. */
export function listOwnMedia(network: InstagramNetwork): GraphEndpoint {
  return {
    method: "GET",
    path: "/:id/media",
    operations: () => ["status"],
    reads: true,
    scope: "instagram_basic",
    handle: (graphCall) => list(network, graphCall),
  };
}
