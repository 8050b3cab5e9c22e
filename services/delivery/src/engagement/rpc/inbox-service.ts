import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import {
  InboxService,
  type ListInboxRequest,
  type SetInboxStateRequest,
} from "@postrider/contracts/engagement/v1/inbox_service_pb";
import type { InboxCommentJson, InboxJson } from "@postrider/rest/dashboard/inbox";
import { toBoundedCount } from "@postrider/rest/dashboard/parts";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import {
  type CursorKeys,
  encodeCursor,
  requireCursor,
} from "@postrider/shared/secrets/list-cursor";
import {
  type InboxRow,
  listInboxComments,
  readInboxSummary,
  setInboxState,
} from "#src/engagement/db/inbox.ts";
import { type InboxDeps, refreshInbox } from "#src/engagement/operations/inbox.ts";

type Deps = InboxDeps & { readonly cursorKeys: CursorKeys };

const STATES = ["open", "answered", "done"] as const;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

export function createInboxRoutes(deps: Deps): (router: ConnectRouter) => void {
  const service: ServiceImpl<typeof InboxService> = {
    listInbox: async (request) => ({ json: JSON.stringify(await listInbox(deps, request)) }),
    refreshInbox: async ({ workspaceId }) => {
      assertIds(workspaceId);
      return { hasBegun: await refreshInbox(deps, workspaceId) };
    },
    setInboxState: async (request) => ({ json: JSON.stringify(await setState(deps, request)) }),
  };
  return (router) => router.service(InboxService, service);
}

function parseFilter({ state, accountId, platform }: ListInboxRequest) {
  const known = STATES.find((each) => each === state);
  if (state !== "" && known === undefined)
    throw invalidRequest([{ code: "invalid", path: "/state" }]);
  return {
    state: known,
    accountId: accountId === "" ? undefined : accountId,
    platform: platform === "" ? undefined : platform,
  };
}

/** 0 stands for the default. */
function parseLimit(limit: number): number {
  if (limit < 0 || limit > MAX_LIMIT) throw invalidRequest([{ code: "invalid", path: "/limit" }]);
  return limit === 0 ? DEFAULT_LIMIT : limit;
}

async function listInbox(
  { sql, cursorKeys }: Pick<Deps, "sql" | "cursorKeys">,
  request: ListInboxRequest,
): Promise<InboxJson> {
  const { workspaceId, cursor, accountId } = request;
  assertIds(workspaceId, ...(accountId === "" ? [] : [accountId]));
  const limit = parseLimit(request.limit);
  const filter = parseFilter(request);
  const scope = ["inbox", workspaceId, request.state, accountId, request.platform];
  const after = cursor === "" ? undefined : requireCursor(cursorKeys, scope, cursor);
  const [rows, { open, readAt }] = await Promise.all([
    listInboxComments(sql, workspaceId, { ...filter, limit: limit + 1, after }),
    readInboxSummary(sql, workspaceId),
  ]);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const next = last && encodeCursor(cursorKeys, scope, { at: last.commentedAt, id: last.id });
  return {
    comments: shown.map(toComment),
    nextCursor: next ?? null,
    open: toBoundedCount(open),
    readAt: readAt?.toISOString() ?? null,
  };
}

async function setState(
  { sql }: Pick<Deps, "sql">,
  { workspaceId, id, state }: SetInboxStateRequest,
): Promise<InboxCommentJson> {
  assertIds(workspaceId, id);
  if (state !== "open" && state !== "done")
    throw invalidRequest([{ code: "invalid", path: "/state" }]);
  const row = await sql.begin(async (tx) => {
    const set = await setInboxState(tx, { workspaceId, id }, state);
    if (set === undefined) throw notFound();
    const { accountId, commentId } = set.row;
    if (set.isChanged)
      await appendDeed(tx, {
        action: "inbox_comment.set_state",
        subject: { type: "inbox_comment", id },
        workspaceId,
        details: { state, accountId, commentId },
      });
    return set.row;
  });
  return toComment(row);
}

function toComment(row: InboxRow): InboxCommentJson {
  const { authorId, authorUsername, commentedAt, ...rest } = row;
  return {
    ...rest,
    author: { id: authorId, username: authorUsername },
    createdAt: commentedAt.toISOString(),
  };
}
