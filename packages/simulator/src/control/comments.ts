import type { FastifyInstance } from "fastify";
import { type Query, requireAccount, requirePlatform } from "#src/control/query.ts";
import type { Platforms } from "#src/platforms.ts";
import type { World } from "#src/world/world.ts";

export function registerComments(scope: FastifyInstance, world: World, platforms: Platforms): void {
  const find = ({ platform = "", account = "" }: Query) => ({
    platform: requirePlatform(platforms, platform),
    account: requireAccount(world, platforms, platform, account),
  });

  scope.get<{ Querystring: Query }>("/comments", (request) => {
    const { platform, account } = find(request.query);
    return (platform.commentsOf?.(account) ?? []).map((comment) => ({
      ...comment,
      createdAt: new Date(comment.createdAt).toISOString(),
    }));
  });

  scope.get<{ Querystring: Query }>("/private-replies", (request) => {
    const { platform, account } = find(request.query);
    return (platform.privateRepliesOf?.(account) ?? []).map((reply) => ({
      ...reply,
      sentAt: new Date(reply.sentAt).toISOString(),
    }));
  });
}
