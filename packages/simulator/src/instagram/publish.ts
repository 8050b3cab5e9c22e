import type { GraphCall } from "#src/graph/endpoint.ts";
import { refuseGraph, refuseObject, refuseParameter } from "#src/graph/errors.ts";
import { pickFields } from "#src/graph/parameters.ts";
import type { Reply } from "#src/http/call.ts";
import type { Container } from "#src/instagram/containers.ts";
import { refuseDailyLimit, refuseMissingContainer, refuseNotReady } from "#src/instagram/errors.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";
import type { Account } from "#src/world/accounts.ts";
import type { LimitRule } from "#src/world/limits.ts";

const MAX_POSTS_PER_DAY = 50;
const DAY_SECONDS = 86_400;
const NO_LIMIT = 1_000_000;

function publishingLimitOf({ externalId }: Account): LimitRule {
  const key = `instagram:posts:${externalId}`;
  return { key, limit: MAX_POSTS_PER_DAY, windowMs: DAY_SECONDS * 1000 };
}

export function contentPublishingLimit(
  { world }: InstagramNetwork,
  { account, now, parameters, id }: GraphCall,
): Reply {
  if (id !== account.externalId) return refuseObject(id);
  parameters.checkNames(["since"]);
  const { limit, remaining } = world.limits.read(publishingLimitOf(account), now);
  const total = world.settings.values.quotas ? limit : NO_LIMIT;
  const object = {
    quota_usage: limit - remaining,
    config: { quota_total: total, quota_duration: DAY_SECONDS },
  };
  const { id: _id, ...fields } = pickFields(parameters, object, ["quota_usage"]);
  return { status: 200, body: { data: [fields] } };
}

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

export function publishContainer(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { world, containers, details } = network;
  const { account, now, parameters, id: path } = graphCall;
  if (path !== account.externalId) return refuseObject(path);
  parameters.checkNames(["creation_id"]);
  const container = publishable(network, graphCall);
  const { shareToFeed } = container;
  if (!world.limits.take(publishingLimitOf(account), now)) refuseDailyLimit();
  const id = world.snowflakes.next(now);
  world.posts.add({
    platform: "instagram",
    account: account.externalId,
    id,
    text: container.caption,
    media: containers.mediaOf(container),
    createdAt: now,
    options: shareToFeed === undefined ? undefined : { share_to_feed: shareToFeed },
  });
  details.add(id, container.kind);
  containers.put({ ...container, publishedAt: now });
  return { status: 200, body: { id } };
}
