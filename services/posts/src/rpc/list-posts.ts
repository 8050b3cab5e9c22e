import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListPostsRequest,
  ListPostsResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import {
  requireCursor,
  encodeCursor,
  type CursorKeys,
} from "@postrider/shared/secrets/list-cursor";
import { listPostSummaries } from "#src/db/post-summaries.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { parseListPosts } from "#src/rpc/parse-list-posts.ts";
import { toPostSummary } from "#src/rpc/to-post-summary.ts";

type Deps = Pick<PostsDeps, "sql" | "cursorKeys">;

/** Approximate maximum size in bytes of a page of posts. A longer page ends early, with a cursor for the next page. */
const MAX_PAGE_BYTES = 2 * 1024 * 1024;

/** Lists a page of posts. The page ends early when it would be too large; the cursor says whether another page follows. */
export async function listPosts(
  { sql, cursorKeys }: Deps,
  request: ListPostsRequest,
): Promise<MessageInitShape<typeof ListPostsResponseSchema>> {
  const { workspaceId, limit, cursor } = request;
  const filter = parseListPosts(request);
  const scope = scopeOf(request);
  const after = cursor === undefined ? undefined : parseCursor(cursorKeys, scope, cursor);
  const page = { ...filter, limit, maxBytes: MAX_PAGE_BYTES, after };
  const rows = await listPostSummaries(sql, workspaceId, page);
  const last = rows.at(-1);
  return {
    posts: rows.map(toPostSummary),
    ...(last?.hasMore === true
      ? { nextCursor: encodeCursor(cursorKeys, scope, { at: last.effectiveAt, id: last.id }) }
      : {}),
  };
}

/**
 * Returns the scope of a list cursor: the workspace and the filters of the list. A cursor is valid only for the same
 * scope. The limit is not part of it, so the page size may change from page to page.
 */
function scopeOf({ workspaceId, ...filter }: ListPostsRequest): readonly string[] {
  const { status = "", platform = "", createdVia = "", from = "", to = "" } = filter;
  return ["posts", workspaceId, status, platform, createdVia, from, to];
}

function parseCursor(keys: CursorKeys, scope: readonly string[], cursor: string) {
  const position = requireCursor(keys, scope, cursor);
  return { effectiveAt: position.at, id: position.id };
}
