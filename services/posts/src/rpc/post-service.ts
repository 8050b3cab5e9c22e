import type { ServiceImpl } from "@connectrpc/connect";
import type { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { batchGetPosts } from "#src/rpc/batch-get-posts.ts";
import { createPost } from "#src/rpc/create-post.ts";
import { deletePost } from "#src/rpc/delete-post.ts";
import { getPost } from "#src/rpc/get-post.ts";
import { listPosts } from "#src/rpc/list-posts.ts";
import { publishPost } from "#src/rpc/publish-post.ts";
import { retryPost } from "#src/rpc/retry-post.ts";
import { updatePost } from "#src/rpc/update-post.ts";
import { validatePost } from "#src/rpc/validate-post.ts";

export function createPostService(deps: PostsDeps) {
  return {
    createPost: (request) => createPost(deps, request),
    getPost: (request) => getPost(deps, request),
    batchGetPosts: (request) => batchGetPosts(deps, request),
    listPosts: (request) => listPosts(deps, request),
    validatePost: (request) => validatePost(deps, request),
    updatePost: (request) => updatePost(deps, request),
    publishPost: (request) => publishPost(deps, request),
    retryPost: (request) => retryPost(deps, request),
    deletePost: (request) => deletePost(deps, request),
  } satisfies ServiceImpl<typeof PostService>;
}
