import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { AuditService } from "@postrider/contracts/operations/v1/audit_service_pb";
import { ParkedEventService } from "@postrider/contracts/operations/v1/parked_event_service_pb";
import { RowImportService } from "@postrider/contracts/operations/v1/row_import_service_pb";
import { WorkspaceExportService } from "@postrider/contracts/operations/v1/workspace_export_service_pb";
import { MediaUseService } from "@postrider/contracts/posts/v1/media_use_service_pb";
import { OverviewService } from "@postrider/contracts/posts/v1/overview_service_pb";
import { PostLimitService } from "@postrider/contracts/posts/v1/post_limit_service_pb";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { QueueSlotService } from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import { QuotaService } from "@postrider/contracts/posts/v1/quota_service_pb";
import { RecoveryService } from "@postrider/contracts/posts/v1/recovery_service_pb";
import { RetentionService } from "@postrider/contracts/posts/v1/retention_service_pb";
import { TargetService } from "@postrider/contracts/posts/v1/target_service_pb";
import { createAuditService } from "@postrider/shared/audit/service";
import { serveMethods } from "@postrider/shared/connect/methods";
import { createRecoveryService } from "@postrider/shared/deployment/recovery";
import { invalidRequest } from "@postrider/shared/errors";
import { daysAgo } from "@postrider/shared/postgres/clock";
import { createWorkspaceExportService } from "@postrider/shared/workspaces/export-service";
import { createRowImportService } from "@postrider/shared/workspaces/import-service";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { releaseImportedPosts } from "#src/db/imported-posts.ts";
import { countOldPosts } from "#src/db/old-posts.ts";
import { INSTALLATION, SHARED_LIMITS } from "#src/domain/quota.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { IMPORT_RULES } from "#src/operations/import-rules.ts";
import { batchGetTargetContents } from "#src/rpc/batch-get-target-contents.ts";
import { createPost } from "#src/rpc/create-post.ts";
import { deletePost } from "#src/rpc/delete-post.ts";
import { getQuota } from "#src/rpc/get-quota.ts";
import { listPosts } from "#src/rpc/list-posts.ts";
import { batchGetMediaNeeds, batchGetMediaUses } from "#src/rpc/media-use-service.ts";
import { getOverview, retryAccount } from "#src/rpc/overview-service.ts";
import { createPostLimitService } from "#src/rpc/post-limit-service.ts";
import {
  batchGetPosts,
  batchGetPostStatuses,
  getPost,
  publishPost,
  recordTargetMetrics,
  retryPost,
  validatePost,
} from "#src/rpc/post-service.ts";
import {
  createQueueSlotRule,
  deleteQueueSlotRule,
  listQueueSlotRules,
  updateQueueSlotRule,
} from "#src/rpc/queue-slot-service.ts";
import { updatePost } from "#src/rpc/update-post.ts";

export interface RouteDeps extends PostsDeps {
  readonly parkedEvents: ServiceImpl<typeof ParkedEventService>;
  readonly deploymentId: string;
}

export function createRoutes(deps: RouteDeps): (router: ConnectRouter) => void {
  return (router) => {
    serveMethods(router, deps, PostService, {
      createPost,
      getPost,
      batchGetPosts,
      batchGetPostStatuses,
      listPosts,
      validatePost,
      updatePost,
      publishPost,
      retryPost,
      deletePost,
      recordTargetMetrics,
    });
    serveMethods(router, deps, OverviewService, { getOverview, retryAccount });
    serveMethods(router, deps, QuotaService, { getQuota });
    serveMethods(router, deps, QueueSlotService, {
      listQueueSlotRules,
      createQueueSlotRule,
      updateQueueSlotRule,
      deleteQueueSlotRule,
    });
    serveMethods(router, deps, MediaUseService, { batchGetMediaUses, batchGetMediaNeeds });
    serveMethods(router, deps, TargetService, { batchGetTargetContents });
    router.service(PostLimitService, createPostLimitService(deps));
    router.service(RetentionService, createRetentionService(deps));
    router.service(RecoveryService, createRecoveryService(deps));
    router.service(AuditService, createAuditService(deps));
    router.service(WorkspaceExportService, createWorkspaceExportService(deps.sql, EXPORTED_TABLES));
    const { sql } = deps;
    router.service(
      RowImportService,
      createRowImportService({
        sql,
        tables: EXPORTED_TABLES,
        rules: IMPORT_RULES,
        prepare: async (_tx, workspaceId) => {
          if (workspaceId === INSTALLATION)
            throw invalidRequest([{ code: "invalid", path: "/workspaceId" }]);
        },
        release: (workspaceId, isCopy) =>
          releaseImportedPosts(sql, workspaceId, isCopy, SHARED_LIMITS),
      }),
    );
    router.service(ParkedEventService, deps.parkedEvents);
  };
}

function createRetentionService({
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
