import type { FastifyInstance } from "fastify";
import {
  ControlError,
  countOf,
  findAccount,
  instantOf,
  type Query,
  requireAccount,
  requirePlatform,
} from "#src/control/query.ts";
import type { Platforms } from "#src/platforms.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Post, PostFilter } from "#src/world/posts.ts";
import { METRIC_NAMES, type MetricValues } from "#src/world/reactions.ts";
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

function toVisible(post: Post): unknown {
  const { platform, account, id, text, media, createdAt, createCalls, options } = post;
  const created = new Date(createdAt).toISOString();
  const files = media.map(({ kind, sha256, altText, coverMs }) => {
    return { kind, sha256, altText, coverMs };
  });
  return { platform, account, id, text, media: files, createdAt: created, createCalls, options };
}

/** Undefined when the account in the query does not exist, so that no post matches. */
function filterOf(world: World, platforms: Platforms, query: Query): PostFilter | undefined {
  const { platform, account: idOrUsername } = query;
  const since = instantOf(query["since"], "since");
  const limit = countOf(query["limit"], "limit");
  if (idOrUsername === undefined || idOrUsername === "") return { since, limit, platform };
  const account = findAccount(world, platforms, platform, idOrUsername);
  return account && { since, limit, account };
}

export function registerInspection(
  scope: FastifyInstance,
  world: World,
  platforms: Platforms,
): void {
  scope.get<{ Querystring: Query }>("/visible", (request) => {
    const filter = filterOf(world, platforms, request.query);
    return filter === undefined
      ? []
      : world.posts.visible(filter, world.clock.now()).map(toVisible);
  });

  scope.get<{ Params: { platform: string; id: string; index: string }; Querystring: Query }>(
    "/visible/:platform/:id/media/:index",
    async ({ params, query }, reply) => {
      const filter = filterOf(world, platforms, { ...query, platform: params.platform });
      const posts = filter === undefined ? [] : world.posts.visible(filter, world.clock.now());
      const media = posts.findLast(({ id }) => id === params.id)?.media[Number(params.index)];
      const file = media === undefined ? undefined : world.files.get(media.sha256);
      return file === undefined
        ? reply.code(404).send({ error: { message: "readers load no such file" } })
        : reply.type(file.contentType).send(file.bytes);
    },
  );

  scope.get<{ Querystring: Query }>("/requests", (request) => {
    const platform = request.query["platform"];
    const since = instantOf(request.query["since"], "since");
    return world.log
      .list({ platform, since })
      .map((entry) => ({ ...entry, time: new Date(entry.time).toISOString() }));
  });

  scope.get("/secrets", () => world.secrets.all());
}
