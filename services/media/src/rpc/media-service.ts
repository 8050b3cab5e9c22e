import type { ServiceImpl } from "@connectrpc/connect";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import type { Sql } from "@postrider/shared/postgres";
import { batchGetMedia } from "#src/rpc/batch-get-media.ts";

export interface MediaServiceDeps {
  readonly sql: Sql;
}

/** The table of contents of MediaService. */
export function createMediaService(deps: MediaServiceDeps) {
  return {
    batchGetMedia: (request) => batchGetMedia(deps, request),
  } satisfies ServiceImpl<typeof MediaService>;
}
