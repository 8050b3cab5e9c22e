import type { FastifyInstance } from "fastify";
import { ControlError } from "#src/control/errors.ts";
import { instantOf, requireAccount, requirePlatform } from "#src/control/query.ts";
import type { Platforms } from "#src/platforms.ts";
import type { Account } from "#src/world/accounts.ts";
import { METRIC_NAMES, type MetricValues } from "#src/world/reactions.ts";
import type { World } from "#src/world/world.ts";

interface CommentBody {
  readonly platform: string;
  readonly account: string;
  readonly mediaId: string;
  readonly author: string;
  readonly text: string;
  readonly createdAt?: string;
}

interface MetricsBody extends MetricValues {
  readonly platform: string;
  readonly account: string;
  readonly id: string;
}

const COMMENT_BODY = {
  type: "object",
  required: ["platform", "account", "mediaId", "author", "text"],
  additionalProperties: false,
  properties: {
    platform: { type: "string" },
    account: { type: "string" },
    mediaId: { type: "string" },
    author: { type: "string", minLength: 1 },
    text: { type: "string" },
    createdAt: { type: "string" },
  },
};

const METRICS_BODY = {
  type: "object",
  required: ["platform", "account", "id"],
  additionalProperties: false,
  properties: {
    platform: { type: "string" },
    account: { type: "string" },
    id: { type: "string" },
    ...Object.fromEntries(METRIC_NAMES.map((name) => [name, { type: "integer", minimum: 0 }])),
  },
};

function requirePost(world: World, account: Account, id: string): void {
  const post = world.posts.get(account, id);
  if (post === undefined || post.deletedAt !== null)
    throw new ControlError(404, `account ${account.username} has no visible post ${id}`);
}

function requireCommentable(world: World, account: Account, id: string): void {
  const parent = world.reactions.comment(account.platform, id);
  if (parent?.account !== account.externalId) requirePost(world, account, id);
}

export function registerReactions(
  scope: FastifyInstance,
  world: World,
  platforms: Platforms,
): void {
  scope.post<{ Body: CommentBody }>(
    "/comments",
    { schema: { body: COMMENT_BODY } },
    (request, reply) => {
      const { platform, mediaId, author, text } = request.body;
      const { newCommentId } = requirePlatform(platforms, platform);
      if (newCommentId === undefined)
        throw new ControlError(400, `the simulated ${platform} has no comments`);

      const account = requireAccount(world, platforms, platform, request.body.account);
      requireCommentable(world, account, mediaId);
      const now = world.clock.now();
      const createdAt = instantOf(request.body.createdAt, "createdAt") ?? now;
      const id = newCommentId(now, mediaId);
      const owner = account.externalId;
      world.reactions.addComment({
        id,
        platform,
        account: owner,
        mediaId,
        author,
        text,
        createdAt,
      });
      return reply.code(201).send({ id });
    },
  );

  scope.post<{ Body: MetricsBody }>("/metrics", { schema: { body: METRICS_BODY } }, (request) => {
    const { platform, account: idOrUsername, id, ...values } = request.body;
    requirePost(world, requireAccount(world, platforms, platform, idOrUsername), id);
    return world.reactions.setMetrics(platform, id, values, world.clock.now());
  });
}
