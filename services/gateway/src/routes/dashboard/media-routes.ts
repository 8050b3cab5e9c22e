import type { LibraryMediaJson, MediaLibraryJson } from "@postrider/rest/dashboard/media";
import { toBoundedCount } from "@postrider/rest/dashboard/parts";
import { toReadyMedia } from "@postrider/rest/media/mapping";
import type { FastifyInstance } from "fastify";
import { Type, type Static } from "typebox";
import { required } from "#src/routes/answer.ts";
import { dashboardRoute } from "#src/routes/dashboard/route.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { callerOf } from "#src/routes/request.ts";
import { CURSOR } from "#src/routes/schemas.ts";

type Deps = Pick<ServerDeps, "media" | "links">;

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

/** Registers the list of the workspace's files. */
export function registerMediaRoutes(api: FastifyInstance, { media, links }: Deps): void {
  const list = dashboardRoute({ scope: "posts:read", querystring: LibraryQuery });
  type Route = { Querystring: Static<typeof LibraryQuery> };
  api.get<Route>("/media", list, async (request): Promise<MediaLibraryJson> => {
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
    return {
      media: page.media.map((used) => ({
        ...(toReadyMedia(workspaceId, required(used.media), links) as Omit<
          LibraryMediaJson,
          "usedIn"
        >),
        usedIn: toBoundedCount(used.posts),
      })),
      nextCursor: page.nextCursor ?? null,
      storage: {
        usedBytes: Number(storage.usedBytes),
        reservedBytes: Number(storage.reservedBytes),
        limitBytes: Number(storage.limitBytes),
      },
    };
  });
}
