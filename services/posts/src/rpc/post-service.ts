import type { Client, ServiceImpl } from "@connectrpc/connect";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import type { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { ServiceError } from "@postrider/shared/errors";
import type { Sql } from "@postrider/shared/postgres";
import type { AccountDirectory } from "#src/clients/accounts.ts";
import type { PlatformDirectory } from "#src/clients/platforms.ts";
import type { DatabaseClock } from "#src/db/clock.ts";
import { createPost } from "#src/rpc/create-post.ts";
import { getPost } from "#src/rpc/get-post.ts";
import { listPostPage } from "#src/rpc/list-posts.ts";

export interface PostServiceDeps {
  readonly sql: Sql;
  readonly clock: DatabaseClock;
  readonly accounts: AccountDirectory;
  readonly platforms: PlatformDirectory;
  readonly media: Client<typeof MediaService>;
  /** Throws while too many events wait for the bus. */
  readonly assertRoom: () => Promise<void>;
  /** Called after a commit that appended events. */
  readonly nudgeRelay: () => void;
  /** From the due time to the last moment at which a target may still go out. */
  readonly missedAfterMs: number;
  /** Signs cursors. */
  readonly cursorKey: Uint8Array;
}

/** The table of contents of PostService. */
export function createPostService(deps: PostServiceDeps) {
  return {
    createPost: (request) => createPost(deps, request),
    getPost: (request) => getPost(deps, request),
    listPosts: (request) => listPostPage(deps, request),
    validatePost: () => unbuilt(),
    updatePost: () => unbuilt(),
    publishPost: () => unbuilt(),
    retryPost: () => unbuilt(),
    deletePost: () => unbuilt(),
  } satisfies ServiceImpl<typeof PostService>;
}

function unbuilt(): never {
  throw new ServiceError("internal", "unimplemented");
}
