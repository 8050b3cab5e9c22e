import type { Client } from "@connectrpc/connect";
import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import type { PostService } from "@postrider/contracts/posts/v1/post_service_pb";

export type PostsClient = Pick<Client<typeof PostService>, "batchGetPosts">;

const MAX_REFS = 100;
/** Approximate maximum size of the answer to one call in bytes. Posts that do not fit are read with further calls. */
const MAX_BYTES = 2 * 1024 * 1024;

interface PostRef {
  readonly workspaceId: string;
  readonly id: string;
}

/**
 * Reads posts from the posts service. Posts that no longer exist are missing in the result.
 *
 * @param timeoutMs Returns the deadline of the next call.
 */
export async function fetchPosts(
  client: PostsClient,
  refs: readonly PostRef[],
  timeoutMs: () => number,
): Promise<readonly Post[]> {
  const found: Post[] = [];
  for (let next = 0; next < refs.length;) {
    const page = refs.slice(next, next + MAX_REFS);
    const answer = await client.batchGetPosts(
      { refs: page, maxBytes: MAX_BYTES },
      { timeoutMs: timeoutMs() },
    );
    found.push(...answer.posts);
    const answered = answer.deferredFrom ?? page.length;
    if (answered === 0) throw new Error("the posts service returned none of the requested posts");
    next += answered;
  }
  return found;
}
