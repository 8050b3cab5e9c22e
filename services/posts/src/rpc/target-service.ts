import type { ServiceImpl } from "@connectrpc/connect";
import type { TargetService } from "@postrider/contracts/posts/v1/target_service_pb";
import type { Sql } from "@postrider/shared/postgres";
import { batchGetTargetContents } from "#src/rpc/batch-get-target-contents.ts";

export interface TargetServiceDeps {
  readonly sql: Sql;
}

/** The table of contents of TargetService. */
export function createTargetService(deps: TargetServiceDeps) {
  return {
    batchGetTargetContents: (request) => batchGetTargetContents(deps, request),
  } satisfies ServiceImpl<typeof TargetService>;
}
