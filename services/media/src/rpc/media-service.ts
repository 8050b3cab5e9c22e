import type { ServiceImpl } from "@connectrpc/connect";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import type { Sql } from "@postrider/shared/postgres";
import type { PostsClient } from "#src/clients/posts.ts";
import type { SizeLimits } from "#src/domain/accepted-types.ts";
import type { Imports } from "#src/operations/imports.ts";
import type { UploadChecks } from "#src/operations/upload-checks.ts";
import { batchGetMedia } from "#src/rpc/batch-get-media.ts";
import { completeUpload } from "#src/rpc/complete-upload.ts";
import { createUpload } from "#src/rpc/create-upload.ts";
import { deleteMedia } from "#src/rpc/delete-media.ts";
import { importMedia } from "#src/rpc/import-media.ts";
import { releaseMedia } from "#src/rpc/release-media.ts";
import { useMedia } from "#src/rpc/use-media.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";

export interface MediaServiceDeps {
  readonly sql: Sql;
  readonly posts: PostsClient;
  readonly store: ObjectStore;
  readonly checks: UploadChecks;
  readonly imports: Imports;
  readonly limits: SizeLimits;
  /** How long an upload may begin. */
  readonly grantMs: number;
  /** How long a request waits for a check. */
  readonly completeMs: number;
  /** @throws `unavailable` while the outbox is full. */
  readonly assertRoom: () => Promise<void>;
  /** Called after a commit that appended events. */
  readonly nudgeRelay: () => void;
}

/** The table of contents of MediaService. */
export function createMediaService(deps: MediaServiceDeps) {
  return {
    batchGetMedia: (request) => batchGetMedia(deps, request),
    useMedia: (request) => useMedia(deps, request),
    releaseMedia: (request) => releaseMedia(deps, request),
    createUpload: (request) => createUpload(deps, request),
    completeUpload: (request) => completeUpload(deps, request),
    importMedia: (request) => importMedia(deps, request),
    deleteMedia: (request) => deleteMedia(deps, request),
  } satisfies ServiceImpl<typeof MediaService>;
}
