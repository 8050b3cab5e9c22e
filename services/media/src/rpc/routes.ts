import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { MediaFileService } from "@postrider/contracts/media/v1/media_file_service_pb";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { RecoveryService } from "@postrider/contracts/media/v1/recovery_service_pb";
import { RetentionService } from "@postrider/contracts/media/v1/retention_service_pb";
import { StorageService } from "@postrider/contracts/media/v1/storage_service_pb";
import { AuditService } from "@postrider/contracts/operations/v1/audit_service_pb";
import { ParkedEventService } from "@postrider/contracts/operations/v1/parked_event_service_pb";
import { RowImportService } from "@postrider/contracts/operations/v1/row_import_service_pb";
import { WorkspaceExportService } from "@postrider/contracts/operations/v1/workspace_export_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { createAuditService } from "@postrider/shared/audit/service";
import { createParkedEventService } from "@postrider/shared/bus/parked";
import { serveMethods } from "@postrider/shared/connect/methods";
import { invalidRequest } from "@postrider/shared/errors";
import { NIL_ID, assertWorkspaceId } from "@postrider/shared/ids";
import { createWorkspaceExportService } from "@postrider/shared/workspaces/export-service";
import { createRowImportService } from "@postrider/shared/workspaces/import-service";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { listOpenChecks } from "#src/db/media-leases.ts";
import { lockStorage, readStorage, setStorageLimit } from "#src/db/storage.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { findOldMedia } from "#src/operations/old-media.ts";
import { readWorkspaceStorage } from "#src/operations/read-workspace-storage.ts";
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

const MAX_COUNTED = 10_000;

function createRetentionService({
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

type StorageDependencies = Pick<RpcDependencies, "sql" | "storageBytes" | "storageTurns">;

function createStorageService(deps: StorageDependencies): ServiceImpl<typeof StorageService> {
  return {
    getStorage: async ({ workspaceId }) => ({
      storage: await readWorkspaceStorage(deps, workspaceId),
    }),
    setStorageLimit: async ({ workspaceId, limitBytes }) => {
      assertWorkspaceId(workspaceId);
      if (limitBytes !== undefined && limitBytes < 0n)
        throw invalidRequest([{ code: "too_small", path: "/limitBytes", limit: 0 }]);
      const bytes = limitBytes === undefined ? null : Number(limitBytes);
      await changeLimit(deps, workspaceId, bytes);
      return { storage: await readWorkspaceStorage(deps, workspaceId) };
    },
  };
}

/** Null means the default limit. */
async function changeLimit(
  { sql }: Pick<RpcDependencies, "sql">,
  workspaceId: string,
  bytes: number | null,
) {
  await sql.begin(async (tx) => {
    await lockStorage(tx, workspaceId);
    const { limitBytes } = await readStorage(tx, workspaceId);
    await setStorageLimit(tx, workspaceId, bytes);
    const subject = { type: "workspace", id: workspaceId } as const;
    const details = { before: { limitBytes }, after: { limitBytes: bytes } };
    const action = "workspace.set_storage_limit";
    await appendAudit(tx, [{ action, subject, workspaceId, details }]);
  });
}
