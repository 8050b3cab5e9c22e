import type { ServiceImpl } from "@connectrpc/connect";
import type { RetentionService } from "@postrider/contracts/media/v1/retention_service_pb";
import { NIL_ID } from "@postrider/shared/ids";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { findOldMedia } from "#src/operations/old-media.ts";

const MAX_COUNTED = 10_000;

export function createRetentionService({
  sql,
  posts,
  retentionDays: days,
}: Pick<RpcDependencies, "sql" | "posts" | "retentionDays">): ServiceImpl<typeof RetentionService> {
  return {
    getRetention: async () => {
      let [removable, bytes] = [0, 0];
      let after: string | undefined = days === 0 ? undefined : NIL_ID;
      while (after !== undefined && removable < MAX_COUNTED) {
        const page = await findOldMedia({ sql, posts }, { days, after });
        removable += page.removable.length;
        bytes += page.removable.reduce((sum, media) => sum + media.bytes, 0);
        after = page.last;
      }
      return { days, removable, bytes: BigInt(bytes) };
    },
  };
}
