import type { Client, ServiceImpl } from "@connectrpc/connect";
import type { TaskService } from "@postrider/contracts/delivery/v1/task_service_pb";
import type { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import type { Sql } from "@postrider/shared/postgres";
import type { AccountDirectory } from "#src/clients/accounts.ts";
import type { MediaClient } from "#src/clients/media.ts";
import type { PlatformDirectory } from "#src/clients/platforms.ts";
import type { WorkspaceDirectory } from "#src/clients/workspaces.ts";
import type { DatabaseClock } from "#src/db/clock.ts";
import type { CursorKeys } from "#src/domain/cursor.ts";
import { batchGetPosts } from "#src/rpc/batch-get-posts.ts";
import { createPost } from "#src/rpc/create-post.ts";
import { deletePost } from "#src/rpc/delete-post.ts";
import { getPost } from "#src/rpc/get-post.ts";
import { listPostPage } from "#src/rpc/list-posts.ts";
import { publishPost } from "#src/rpc/publish-post.ts";
import { retryPost } from "#src/rpc/retry-post.ts";
import { updatePost } from "#src/rpc/update-post.ts";
import { validatePost } from "#src/rpc/validate-post.ts";

export interface PostServiceDeps {
  readonly sql: Sql;
  readonly clock: DatabaseClock;
  readonly accounts: AccountDirectory;
  readonly platforms: PlatformDirectory;
  readonly media: MediaClient;
  readonly tasks: Client<typeof TaskService>;
  /** Throws while too many events wait for the bus. */
  readonly assertRoom: () => Promise<void>;
  /** Called after a commit that appended events. */
  readonly nudgeRelay: () => void;
  readonly workspaces: WorkspaceDirectory;
  /** Called after a commit that scheduled a post. */
  readonly nudgeScheduler: (scheduledAt: Date) => void;
  /** From the due time to the last moment at which a target may still go out. */
  readonly missedAfterMs: number;
  /** Signs cursors. */
  readonly cursorKeys: CursorKeys;
}

/** The table of contents of PostService. */
export function createPostService(deps: PostServiceDeps) {
  return {
    createPost: (request) => createPost(deps, request),
    getPost: (request) => getPost(deps, request),
    batchGetPosts: (request) => batchGetPosts(deps, request),
    listPosts: (request) => listPostPage(deps, request),
    validatePost: (request) => validatePost(deps, request),
    updatePost: (request) => updatePost(deps, request),
    publishPost: (request) => publishPost(deps, request),
    retryPost: (request) => retryPost(deps, request),
    deletePost: (request) => deletePost(deps, request),
  } satisfies ServiceImpl<typeof PostService>;
}
