import type { ServiceImpl } from "@connectrpc/connect";
import type { MediaUseService } from "@postrider/contracts/posts/v1/media_use_service_pb";
import type { Sql } from "@postrider/shared/postgres";
import { batchGetMediaUses } from "#src/rpc/batch-get-media-uses.ts";

export interface MediaUseServiceDeps {
  readonly sql: Sql;
}

/** The table of contents of MediaUseService. */
export function createMediaUseService(deps: MediaUseServiceDeps) {
  return {
    batchGetMediaUses: (request) => batchGetMediaUses(deps, request),
  } satisfies ServiceImpl<typeof MediaUseService>;
}
