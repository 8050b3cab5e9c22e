import type { ConnectRouter } from "@connectrpc/connect";
import { PauseService } from "@postrider/contracts/delivery/v1/pause_service_pb";
import { PublishingStatusService } from "@postrider/contracts/delivery/v1/publishing_status_service_pb";
import { RecoveryService } from "@postrider/contracts/delivery/v1/recovery_service_pb";
import { TaskService } from "@postrider/contracts/delivery/v1/task_service_pb";
import { AuditService } from "@postrider/contracts/operations/v1/audit_service_pb";
import { ParkedEventService } from "@postrider/contracts/operations/v1/parked_event_service_pb";
import { WorkspaceExportService } from "@postrider/contracts/operations/v1/workspace_export_service_pb";
import { createAuditService } from "@postrider/shared/audit/service";
import { createParkedEventService } from "@postrider/shared/bus/parked";
import { serveMethods } from "@postrider/shared/connect/methods";
import { createWorkspaceExportService } from "@postrider/shared/workspaces/export-service";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { listOpenCalls } from "#src/publishing/db/workspace-removal.ts";
import { batchGetTargetStates } from "./batch-get-target-states.ts";
import { cancelTargets } from "./cancel-targets.ts";
import type { Dependencies } from "./dependencies.ts";
import { createPauseService } from "./pause-service.ts";
import {
  batchGetSecondPosts,
  batchGetWaits,
  getPublishingStatus,
} from "./publishing-status-service.ts";
import { createRecoveryService } from "./recovery-service.ts";
import { resolveTarget } from "./resolve-target.ts";

export function createRoutes(deps: Dependencies): (router: ConnectRouter) => void {
  return (router) => {
    serveMethods(router, deps, TaskService, {
      batchGetTargetStates,
      cancelTargets,
      resolveTarget,
    });
    serveMethods(router, deps, PublishingStatusService, {
      getPublishingStatus,
      batchGetWaits,
      batchGetSecondPosts,
    });
    router.service(PauseService, createPauseService(deps));
    router.service(RecoveryService, createRecoveryService(deps));
    router.service(AuditService, createAuditService(deps));
    router.service(
      WorkspaceExportService,
      createWorkspaceExportService(deps.sql, EXPORTED_TABLES, (workspaceId) =>
        listOpenCalls(deps.sql, workspaceId),
      ),
    );
    router.service(ParkedEventService, createParkedEventService(deps));
  };
}
