import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetPostsRequest,
  BatchGetPostsResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { isId } from "@postrider/shared/ids";
import { listPostsByRefs } from "#src/db/posts.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { toPost } from "#src/rpc/to-post.ts";

/** Reads several posts. A post of another workspace is missing in the response, like a post that does not exist. */
export async function batchGetPosts(
  { sql }: Pick<PostsDeps, "sql">,
  { refs }: BatchGetPostsRequest,
): Promise<MessageInitShape<typeof BatchGetPostsResponseSchema>> {
  const wanted = refs
    .filter(({ workspaceId, id }) => isId(workspaceId) && isId(id))
    .map(({ workspaceId, id }) => ({ workspaceId, postId: id }));
  const rows = wanted.length === 0 ? [] : await listPostsByRefs(sql, wanted);
  return { posts: rows.map(toPost) };
}
