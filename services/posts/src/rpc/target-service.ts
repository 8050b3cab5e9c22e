import type { ServiceImpl } from "@connectrpc/connect";
import type { TargetService } from "@postrider/contracts/posts/v1/target_service_pb";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { batchGetTargetContents } from "#src/rpc/batch-get-target-contents.ts";

export function createTargetService(deps: Pick<PostsDeps, "sql">) {
  return {
    batchGetTargetContents: (request) => batchGetTargetContents(deps, request),
  } satisfies ServiceImpl<typeof TargetService>;
}
