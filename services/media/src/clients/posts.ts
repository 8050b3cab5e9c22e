import type { Client } from "@connectrpc/connect";
import type {
  MediaUseService,
  PostMediaNeed,
} from "@postrider/contracts/posts/v1/media_use_service_pb";
import type { UsingPost } from "#src/domain/usage.ts";

export type PostsClient = Client<typeof MediaUseService>;

/** Maximum of BatchGetMediaUses. */
export const MAX_POSTS = 500;
const TIMEOUT_MS = 5_000;

/** The returned map has no entry for a post that does not exist. */
export async function fetchUsingPosts(
  posts: PostsClient,
  { workspaceId, mediaId }: { readonly workspaceId: string; readonly mediaId: string },
  postIds: readonly string[],
): Promise<ReadonlyMap<string, UsingPost>> {
  const request = { workspaceId, mediaId, postIds: [...postIds] };
  const { uses } = await posts.batchGetMediaUses(request, { timeoutMs: TIMEOUT_MS });
  return new Map(
    uses.map((post) => [post.postId, { uses: post.uses, version: Number(post.version) }]),
  );
}

/** The returned map has no entry for a post that does not exist. */
export async function fetchMediaNeeds(
  posts: PostsClient,
  postIds: readonly string[],
): Promise<ReadonlyMap<string, PostMediaNeed>> {
  if (postIds.length === 0) return new Map();
  const request = { postIds: [...new Set(postIds)] };
  const answer = await posts.batchGetMediaNeeds(request, { timeoutMs: TIMEOUT_MS });
  return new Map(answer.posts.map((post) => [post.postId, post]));
}
