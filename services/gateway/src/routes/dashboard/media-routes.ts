import type { ConvertedFile } from "@postrider/contracts/media/v1/media_service_pb";
import type { LibraryMediaJson, MediaLibraryJson } from "@postrider/rest/dashboard/media";
import { toBoundedCount } from "@postrider/rest/dashboard/parts";
import { toReadyMedia } from "@postrider/rest/media/mapping";
import type { FastifyInstance } from "fastify";
import { Type, type Static } from "typebox";
import { toWeakTag } from "#src/http/entity-tags.ts";
import { required } from "#src/routes/answer.ts";
import { dashboardRoute } from "#src/routes/dashboard/route.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { callerOf, pathId } from "#src/routes/request.ts";
import { CURSOR, IdParams } from "#src/routes/schemas.ts";

type Deps = Pick<ServerDeps, "media" | "mediaBytes" | "links">;

const Flag = Type.Optional(Type.Unsafe<"true">({ type: "string", enum: ["true"] }));
const LibraryQuery = Type.Object(
  {
    kind: Type.Optional(Type.Unsafe<string>({ type: "string", enum: ["image", "video"] })),
    unused: Flag,
    withoutAltText: Flag,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    cursor: CURSOR,
  },
  { additionalProperties: false },
);

const DEFAULT_LIMIT = 50;

/**
 * The bytes of media never change, so browsers ask once a day; one that logs in elsewhere asks
 * again.
 */
const PREVIEW_HEADERS = { "cache-control": "private, max-age=86400", vary: "cookie" };

/** Registers the list of the workspace's files, and the small picture of each. */
export function registerMediaRoutes(api: FastifyInstance, deps: Deps): void {
  registerLibrary(api, deps);
  const preview = dashboardRoute({ scope: "posts:read", params: IdParams });
  type Route = { Params: Static<typeof IdParams> };
  api.get<Route>("/media/:id/preview", preview, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { status, headers, body } = await deps.mediaBytes.open({
      workspaceId,
      mediaId: pathId(request),
      rendition: "preview",
      requestId: request.id,
      range: undefined,
    });
    reply.headers(PREVIEW_HEADERS);
    if (status === 204) return await reply.status(204).send();
    // It is small, so no client that reads slowly holds a connection to the media service.
    const picture = Buffer.concat(await Array.fromAsync(body));
    return await reply.header("content-type", headers["content-type"]).send(picture);
  });
}

function toSentFile({ contentType, width, height, bytes }: ConvertedFile) {
  return { contentType, width, height, bytes: Number(bytes) };
}

/** The URLs are signed anew for each answer, and would make each of them another one. */
function withoutUrls(library: MediaLibraryJson): string {
  return JSON.stringify(library, (name, value: unknown) => (name === "url" ? undefined : value));
}

function registerLibrary(api: FastifyInstance, { media, links }: Deps): void {
  const list = dashboardRoute({ scope: "posts:read", querystring: LibraryQuery });
  type Route = { Querystring: Static<typeof LibraryQuery> };
  api.get<Route>("/media", list, async (request, reply): Promise<MediaLibraryJson> => {
    const { workspaceId } = callerOf(request);
    const { kind = "", unused, withoutAltText, limit = DEFAULT_LIMIT, cursor = "" } = request.query;
    const page = await media.listMedia({
      workspaceId,
      kind,
      unused: unused !== undefined,
      withoutAltText: withoutAltText !== undefined,
      limit,
      cursor,
    });
    const storage = required(page.storage);
    const library: MediaLibraryJson = {
      media: page.media.map((used) => ({
        ...(toReadyMedia(workspaceId, required(used.media), links) as Omit<
          LibraryMediaJson,
          "usedIn" | "sentAs"
        >),
        usedIn: toBoundedCount(used.posts),
        sentAs: used.isPrepared ? used.converted.map(toSentFile) : null,
      })),
      nextCursor: page.nextCursor ?? null,
      storage: {
        usedBytes: Number(storage.usedBytes),
        reservedBytes: Number(storage.reservedBytes),
        limitBytes: Number(storage.limitBytes),
      },
    };
    reply.header("etag", toWeakTag(withoutUrls(library)));
    return library;
  });
}
