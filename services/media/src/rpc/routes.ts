import type { ConnectRouter } from "@connectrpc/connect";
import { MediaFileService } from "@postrider/contracts/media/v1/media_file_service_pb";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { RecoveryService } from "@postrider/contracts/media/v1/recovery_service_pb";
import { RetentionService } from "@postrider/contracts/media/v1/retention_service_pb";
import { StorageService } from "@postrider/contracts/media/v1/storage_service_pb";
import { AuditService } from "@postrider/contracts/operations/v1/audit_service_pb";
import { ParkedEventService } from "@postrider/contracts/operations/v1/parked_event_service_pb";
import { RowImportService } from "@postrider/contracts/operations/v1/row_import_service_pb";
import { WorkspaceExportService } from "@postrider/contracts/operations/v1/workspace_export_service_pb";
import { createAuditService } from "@postrider/shared/audit/service";
import { createParkedEventService } from "@postrider/shared/bus/parked";
import { serveMethods } from "@postrider/shared/connect/methods";
import { createWorkspaceExportService } from "@postrider/shared/workspaces/export-service";
import { createRowImportService } from "@postrider/shared/workspaces/import-service";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { listOpenChecks } from "#src/db/media-leases.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { completeUpload } from "#src/rpc/complete-upload.ts";
import { deleteMedia } from "#src/rpc/delete-media.ts";
import { importMedia } from "#src/rpc/import-media.ts";
import { createMediaFileService } from "#src/rpc/media-file-service.ts";
import {
  batchGetMedia,
  createUpload,
  listMedia,
  releaseMedia,
  useMedia,
} from "#src/rpc/media-service.ts";
import { prepareMedia } from "#src/rpc/prepare-media.ts";
import { createRecoveryService } from "#src/rpc/recovery-service.ts";
import { createRetentionService } from "#src/rpc/retention-service.ts";
import { createStorageService } from "#src/rpc/storage-service.ts";
import { updateMedia } from "#src/rpc/update-media.ts";

export function createRoutes(deps: RpcDependencies): (router: ConnectRouter) => void {
  return (router) => {
    serveMethods(router, deps, MediaService, {
      batchGetMedia,
      listMedia,
      useMedia,
      releaseMedia,
      createUpload,
      completeUpload,
      importMedia,
      prepareMedia,
      updateMedia,
      deleteMedia,
    });
    router.service(RecoveryService, createRecoveryService(deps));
    router.service(RetentionService, createRetentionService(deps));
    router.service(MediaFileService, createMediaFileService(deps));
    router.service(StorageService, createStorageService(deps));
    router.service(AuditService, createAuditService(deps));
    router.service(
      WorkspaceExportService,
      createWorkspaceExportService(deps.sql, EXPORTED_TABLES, (workspaceId) =>
        listOpenChecks(deps.sql, workspaceId),
      ),
    );
    const rows = { sql: deps.sql, tables: EXPORTED_TABLES };
    router.service(RowImportService, createRowImportService(rows));
    router.service(ParkedEventService, createParkedEventService({ sql: deps.sql, handlers: [] }));
  };
}
