import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetPostsRequest,
  BatchGetPostsResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { isId } from "@postrider/shared/ids";
import { listPostsByRefs, listPostsUpTo, type PostRow } from "#src/db/posts.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { toLocale, toPost } from "#src/rpc/to-post.ts";

type Response = MessageInitShape<typeof BatchGetPostsResponseSchema>;

/** Too large posts are left to a further call. Posts of other workspaces are missing. */
export async function batchGetPosts(
  { sql }: Pick<PostsDeps, "sql">,
  { refs, maxBytes, locale }: BatchGetPostsRequest,
): Promise<Response> {
  const toPosts = (rows: readonly PostRow[]) => rows.map((row) => toPost(row, toLocale(locale)));
  const wanted = refs.flatMap(({ workspaceId, id }, index) =>
    isId(workspaceId) && isId(id) ? [{ workspaceId, postId: id, index }] : [],
  );
  if (wanted.length === 0) return { posts: [] };
  if (maxBytes <= 0 || wanted.length === 1)
    return { posts: toPosts(await listPostsByRefs(sql, wanted)) };
  const batch = await listPostsUpTo(sql, wanted, maxBytes);
  const posts = toPosts(batch.posts);
  const deferred = wanted[batch.deferredFrom ?? wanted.length];
  return deferred === undefined ? { posts } : { posts, deferredFrom: deferred.index };
}
