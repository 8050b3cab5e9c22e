import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListPostsRequest,
  ListPostsResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { readInTurn } from "@postrider/shared/postgres/begin-in-turn";
import {
  type CursorKeys,
  encodeCursor,
  requireCursor,
} from "@postrider/shared/secrets/list-cursor";
import { findWindowEnd, type ListFilter, listPostSummaries } from "#src/db/post-summaries.ts";
import { isPostStatus } from "#src/domain/post-status.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";

type Deps = Pick<PostsDeps, "sql" | "cursorKeys">;

/** A longer page ends early, with a cursor for the next page. */
const MAX_PAGE_BYTES = 512 * 1024;

export async function listPosts(
  { sql, cursorKeys }: Deps,
  request: ListPostsRequest,
): Promise<MessageInitShape<typeof ListPostsResponseSchema>> {
  const { workspaceId, limit, cursor } = request;
  const filter = parseListPosts(request);
  const scope = scopeOf(request);
  const after = cursor === undefined ? undefined : parseCursor(cursorKeys, scope, cursor);
  const page = { ...filter, limit, maxBytes: MAX_PAGE_BYTES, after };
  const rows = await readInTurn(sql, workspaceId, () => listPostSummaries(sql, workspaceId, page));
  const last = rows.at(-1);
  const end = last?.hasMore === true ? last : await findWindowEnd(sql, workspaceId, page);
  const nextCursor =
    end === undefined ? null : encodeCursor(cursorKeys, scope, { at: end.effectiveAt, id: end.id });
  const posts = rows.map(({ json }) => json).join(",");
  return { json: `{"posts":[${posts}],"nextCursor":${JSON.stringify(nextCursor)}}` };
}

/** A cursor is valid only for the same workspace and filters; the page size may change. */
function scopeOf({ workspaceId, ...filter }: ListPostsRequest): readonly string[] {
  const { status = "", platform = "", createdVia = "", from = "", to = "" } = filter;
  return ["posts", workspaceId, status, platform, createdVia, from, to];
}

function parseCursor(keys: CursorKeys, scope: readonly string[], cursor: string) {
  const position = requireCursor(keys, scope, cursor);
  return { effectiveAt: position.at, id: position.id };
}

/** For the calendar; the REST interface allows fewer. */
const MAX_LIMIT = 1_000;
const DAY_MS = 86_400_000;
const LAST_YEAR = 9999;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const CREATED_VIA = new Set(["rest", "mcp", "dashboard"]);

/** The error for an invalid request lists every invalid filter. */
export function parseListPosts(request: ListPostsRequest): ListFilter {
  const faults: string[] = [];
  /** Returns undefined for an absent and for an invalid filter, which is added to the faults. */
  const read = <T>(
    path: string,
    text: string | undefined,
    parse: (text: string) => T | undefined,
  ) => {
    const value = text === undefined ? undefined : parse(text);
    if (text !== undefined && value === undefined) faults.push(path);
    return value;
  };
  if (!isId(request.workspaceId)) faults.push("/workspaceId");
  if (request.limit < 1 || request.limit > MAX_LIMIT) faults.push("/limit");
  const status = read("/status", request.status, (text) => (isPostStatus(text) ? text : undefined));
  const platform = read("/platform", request.platform, (text) =>
    isPlatformId(text) ? text : undefined,
  );
  const createdVia = read("/createdVia", request.createdVia, (text) =>
    CREATED_VIA.has(text) ? text : undefined,
  );
  const from = read("/from", request.from, parseDate);
  const to = read("/to", request.to, parseDate);
  if (faults.length > 0) throw invalidRequest(faults.map((path) => ({ code: "invalid", path })));
  if (from !== undefined && to !== undefined && from > to)
    throw invalidRequest([{ code: "range_reversed", path: "/from" }]);
  return { status, platform, createdVia, from, before: to && endOf(to) };
}

/** Undefined after 9999-12-31: Postgres does not accept the year 10000, and no post is later. */
function endOf(date: Date): Date | undefined {
  const end = new Date(date.getTime() + DAY_MS);
  return end.getUTCFullYear() > LAST_YEAR ? undefined : end;
}

/** Undefined for a text that is not a date. Postgres does not have the year 0. */
function parseDate(text: string): Date | undefined {
  if (!DATE.test(text) || text.startsWith("0000")) return undefined;
  const at = new Date(`${text}T00:00:00.000Z`);
  const isDate = !Number.isNaN(at.getTime()) && at.toISOString().startsWith(`${text}T`);
  return isDate ? at : undefined;
}
