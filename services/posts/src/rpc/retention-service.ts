import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { RetentionService } from "@postrider/contracts/posts/v1/retention_service_pb";
import { daysAgo } from "@postrider/shared/postgres/clock";
import { countOldPosts } from "#src/db/old-posts.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";

export function createRetentionService({
  sql,
  retentionDays,
}: Pick<PostsDeps, "sql" | "retentionDays">): ServiceImpl<typeof RetentionService> {
  return {
    getRetention: async () => {
      const { count, oldestAt } = await countOldPosts(sql, await daysAgo(sql, retentionDays));
      const oldest = oldestAt === null ? {} : { oldestAt: timestampFromDate(oldestAt) };
      return { days: retentionDays, removable: count, ...oldest };
    },
  };
}
