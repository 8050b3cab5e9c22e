import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListPostsRequest,
  ListPostsResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { invalidRequest, ServiceError } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { listPosts } from "#src/db/posts.ts";
import { decodeCursor, encodeCursor, type Position } from "#src/domain/cursor.ts";
import type { PostServiceDeps } from "#src/rpc/post-service.ts";
import { toPost } from "#src/rpc/to-post.ts";

const MAX_LIMIT = 100;

type Deps = Pick<PostServiceDeps, "sql" | "cursorKey">;

/** Asks for one post more than the page holds: whether there is another page is then known without counting. */
export async function listPostPage(
  { sql, cursorKey }: Deps,
  { workspaceId, limit, cursor }: ListPostsRequest,
): Promise<MessageInitShape<typeof ListPostsResponseSchema>> {
  if (!isId(workspaceId)) throw invalidRequest([{ code: "invalid", path: "/workspaceId" }]);
  if (limit < 1 || limit > MAX_LIMIT) throw invalidRequest([{ code: "invalid", path: "/limit" }]);
  const scope = ["posts", workspaceId];
  const after = cursor === undefined ? undefined : parseCursor(cursorKey, scope, cursor);
  const rows = await listPosts(sql, workspaceId, { limit: limit + 1, after });
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    posts: page.map(toPost),
    ...(last === undefined ? {} : { nextCursor: encodeCursor(cursorKey, scope, last) }),
  };
}

function parseCursor(key: Uint8Array, scope: readonly string[], cursor: string): Position {
  const position = decodeCursor(key, scope, cursor);
  if (position === undefined) throw new ServiceError("invalid", "invalid_cursor");
  return position;
}
