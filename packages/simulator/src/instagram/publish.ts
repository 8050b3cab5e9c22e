import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseGraph, refuseObject, refuseParameter } from "#src/graph/errors.ts";
import type { Reply } from "#src/http/call.ts";
import type { Container } from "#src/instagram/containers.ts";
import { refuseDailyLimit, refuseMissingContainer, refuseNotReady } from "#src/instagram/errors.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";
import { publishingLimitOf } from "#src/instagram/publishing-limit.ts";

function publishable({ containers }: InstagramNetwork, graphCall: GraphCall): Container {
  const { parameters, account, now } = graphCall;
  const id = parameters.required("creation_id");
  const container = containers.find(account.externalId, id, now);
  if (container === undefined) return refuseMissingContainer();

  if (container.isChild) return refuseParameter("A carousel item cannot be published alone");

  const status = containers.statusOf(container, now);
  switch (status.code) {
    case "FINISHED":
      return container;
    case "EXPIRED":
      return refuseMissingContainer();
    case "ERROR":
      return refuseGraph({ code: -1, subcode: 2_207_032, message: "Create media failed" });
    // It is not known how the real Instagram answers for a container that is already published.
    case "PUBLISHED":
    case "IN_PROGRESS":
      return refuseNotReady();
  }
}

function publish(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { world, containers, details } = network;
  const { account, now, parameters, id: path } = graphCall;
  if (path !== account.externalId) return refuseObject(path);

  parameters.checkNames(["creation_id"]);
  const container = publishable(network, graphCall);
  if (!world.limits.spend([publishingLimitOf(account)], now).allowed) refuseDailyLimit();

  const id = world.snowflakes.next(now);
  world.posts.add({
    platform: "instagram",
    account: account.externalId,
    id,
    text: container.caption,
    media: containers.mediaOf(container),
    createdAt: now,
    deletedAt: null,
    createCalls: 1,
    ...(container.shareToFeed === undefined
      ? {}
      : { options: { share_to_feed: container.shareToFeed } }),
  });
  details.add(id, container.kind);
  containers.put({ ...container, publishedAt: now });
  return { status: 200, body: { id } };
}

export function publishContainer(network: InstagramNetwork): GraphEndpoint {
  return {
    method: "POST",
    path: "/:id/media_publish",
    operations: () => ["publish"],
    scope: "instagram_content_publish",
    handle: (graphCall) => publish(network, graphCall),
  };
}
