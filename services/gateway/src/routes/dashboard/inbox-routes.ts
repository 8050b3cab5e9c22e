import { InboxState, SetInboxState } from "@postrider/rest/dashboard/inbox";
import { Platform } from "@postrider/rest/dashboard/parts";
import { Id } from "@postrider/rest/schemas";
import type { FastifyInstance } from "fastify";
import { Type, type Static } from "typebox";
import { defined } from "#src/http/defined.ts";
import { dashboardRoute } from "#src/routes/dashboard/route.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { sendJson } from "#src/routes/posts/mapping.ts";
import { callerOf, pathId } from "#src/routes/request.ts";
import { CURSOR, IdParams } from "#src/routes/schemas.ts";

type Deps = Pick<ServerDeps, "inbox">;

const InboxQuery = Type.Object(
  {
    state: Type.Optional(InboxState),
    accountId: Type.Optional(Id),
    platform: Type.Optional(Platform),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    cursor: CURSOR,
  },
  { additionalProperties: false },
);

/**
 * Registers the inbox of comments. Reading its first page makes delivery read the newest
 * publications, at most once a minute; a hint says when that has found new comments.
 */
export function registerInboxRoutes(api: FastifyInstance, { inbox }: Deps): void {
  const list = dashboardRoute({ scope: "comments:read", querystring: InboxQuery });
  type List = { Querystring: Static<typeof InboxQuery> };
  api.get<List>("/inbox", list, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { json } = await inbox.listInbox({ workspaceId, ...defined(request.query) });
    if (request.query.cursor === undefined) await inbox.refreshInbox({ workspaceId });
    return sendJson(reply, json);
  });
  const set = dashboardRoute({ scope: "comments:write", params: IdParams, body: SetInboxState });
  type Set = { Params: Static<typeof IdParams>; Body: Static<typeof SetInboxState> };
  api.put<Set>("/inbox/:id", set, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { state } = request.body;
    const { json } = await inbox.setInboxState({ workspaceId, id: pathId(request), state });
    return sendJson(reply, json);
  });
}
