import type { FastifyInstance } from "fastify";
import { countOf, findAccount, instantOf, type Query } from "#src/control/query.ts";
import type { Platforms } from "#src/platforms.ts";
import type { Post, PostFilter } from "#src/world/posts.ts";
import type { World } from "#src/world/world.ts";

function toVisible(post: Post): unknown {
  const { platform, account, id, text, media, createdAt, createCalls, options } = post;
  const created = new Date(createdAt).toISOString();
  const files = media.map(({ kind, sha256, altText, coverMs }) => ({
    kind,
    sha256,
    ...(altText === undefined ? {} : { altText }),
    ...(coverMs === undefined ? {} : { coverMs }),
  }));
  const shown = { platform, account, id, text, media: files, createdAt: created, createCalls };
  return options === undefined ? shown : { ...shown, options };
}

/** Undefined when the account in the query does not exist, so that no post matches. */
function filterOf(world: World, platforms: Platforms, query: Query): PostFilter | undefined {
  const { platform, account: idOrUsername } = query;
  const since = instantOf(query["since"], "since");
  const limit = countOf(query["limit"], "limit");
  const bounds = {
    ...(since === undefined ? {} : { since }),
    ...(limit === undefined ? {} : { limit }),
  };
  if (idOrUsername === undefined || idOrUsername === "")
    return platform === undefined ? bounds : { ...bounds, platform };

  const account = findAccount(world, platforms, platform, idOrUsername);
  return account === undefined ? undefined : { ...bounds, account };
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
      .list({
        ...(platform === undefined ? {} : { platform }),
        ...(since === undefined ? {} : { since }),
      })
      .map((entry) => ({ ...entry, time: new Date(entry.time).toISOString() }));
  });

  scope.get("/secrets", () => world.secrets.all());
}
