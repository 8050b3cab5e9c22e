import type { Reply } from "#src/http/call.ts";
import type { Endpoint, XCall } from "#src/x/endpoint.ts";
import { NOT_PERMITTED, refuseParameter } from "#src/x/errors.ts";
import type { XNetwork } from "#src/x/network.ts";

function remove(network: XNetwork, { call, account, now }: XCall): Reply {
  const { posts } = network.world;
  const id = call.params["id"] ?? "";
  if (!/^[0-9]{1,19}$/.test(id)) refuseParameter("id", id, "The `id` path parameter is not valid");

  const post = network.tweets.find(id);
  if (post !== undefined && post.account !== account.externalId) return NOT_PERMITTED;

  // X does not document its response to a second deletion.
  if (post !== undefined && post.deletedAt === null) posts.change(post, { deletedAt: now });

  return { status: 200, body: { data: { deleted: true } } };
}

export function deleteTweet(network: XNetwork): Endpoint {
  return {
    method: "DELETE",
    path: "/2/tweets/:id",
    operations: () => ["delete"],
    bucket: "delete",
    perUser: 50,
    handle: (call) => remove(network, call),
  };
}
