import type { ServiceImpl } from "@connectrpc/connect";
import type { MediaUseService } from "@postrider/contracts/posts/v1/media_use_service_pb";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { batchGetMediaUses } from "#src/rpc/batch-get-media-uses.ts";

export function createMediaUseService(deps: Pick<PostsDeps, "sql">) {
  return {
    batchGetMediaUses: (request) => batchGetMediaUses(deps, request),
  } satisfies ServiceImpl<typeof MediaUseService>;
}
