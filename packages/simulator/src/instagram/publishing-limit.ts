import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseObject } from "#src/graph/errors.ts";
import { pickFields } from "#src/graph/parameters.ts";
import type { Reply } from "#src/http/call.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";
import type { Account } from "#src/world/accounts.ts";
import type { LimitRule } from "#src/world/limits.ts";

const MAX_POSTS_PER_DAY = 50;
const DAY_SECONDS = 86_400;
const NO_LIMIT = 1_000_000;

export function publishingLimitOf({ externalId }: Account): LimitRule {
  const key = `instagram:posts:${externalId}`;
  return { key, limit: MAX_POSTS_PER_DAY, windowMs: DAY_SECONDS * 1000 };
}

function read({ world }: InstagramNetwork, { account, now, parameters, id }: GraphCall): Reply {
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

export function contentPublishingLimit(network: InstagramNetwork): GraphEndpoint {
  return {
    method: "GET",
    path: "/:id/content_publishing_limit",
    operations: () => ["account"],
    scope: "instagram_content_publish",
    handle: (graphCall) => read(network, graphCall),
  };
}
