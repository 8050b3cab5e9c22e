import type { ISql } from "@postrider/shared/postgres";
import type { PostStatus } from "#src/domain/post-status.ts";
import type { PostRef } from "./posts.ts";

/** Reads the statuses of posts. Posts that do not exist are missing in the result. */
export async function listPostStatuses(
  sql: ISql,
  refs: readonly PostRef[],
): Promise<readonly (PostRef & { readonly status: PostStatus })[]> {
  return await sql`
    select workspace_id, id as post_id, status
    from posts
    where (workspace_id, id) in (
      select workspace_id, id
      from unnest(
        ${refs.map(({ workspaceId }) => workspaceId)}::uuid[],
        ${refs.map(({ postId }) => postId)}::uuid[]
      ) as ref (workspace_id, id)
    )`;
}
