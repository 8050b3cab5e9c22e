import type { ServiceImpl } from "@connectrpc/connect";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { batchGetMedia } from "#src/rpc/batch-get-media.ts";
import { completeUpload } from "#src/rpc/complete-upload.ts";
import { createUpload } from "#src/rpc/create-upload.ts";
import { deleteMedia } from "#src/rpc/delete-media.ts";
import { importMedia } from "#src/rpc/import-media.ts";
import { releaseMedia } from "#src/rpc/release-media.ts";
import { useMedia } from "#src/rpc/use-media.ts";

/** The implementations of all RPCs of MediaService. */
export function createMediaService(deps: RpcDependencies) {
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
