import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { AccountSettingsService } from "@postrider/contracts/accounts/v1/account_settings_service_pb";
import { AdmissionService } from "@postrider/contracts/accounts/v1/admission_service_pb";
import { ApiKeyService } from "@postrider/contracts/accounts/v1/api_key_service_pb";
import { AuthorizationService } from "@postrider/contracts/accounts/v1/authorization_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { DashboardService } from "@postrider/contracts/accounts/v1/dashboard_service_pb";
import { PlatformService } from "@postrider/contracts/accounts/v1/platform_service_pb";
import { RecoveryService } from "@postrider/contracts/accounts/v1/recovery_service_pb";
import { WorkspaceImportService } from "@postrider/contracts/accounts/v1/workspace_import_service_pb";
import { WorkspaceMoveService } from "@postrider/contracts/accounts/v1/workspace_move_service_pb";
import { WorkspaceRemovalService } from "@postrider/contracts/accounts/v1/workspace_removal_service_pb";
import { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { AuditService } from "@postrider/contracts/operations/v1/audit_service_pb";
import { ParkedEventService } from "@postrider/contracts/operations/v1/parked_event_service_pb";
import { RowImportService } from "@postrider/contracts/operations/v1/row_import_service_pb";
import { SecretTransferService } from "@postrider/contracts/operations/v1/secret_transfer_service_pb";
import { WorkspaceExportService } from "@postrider/contracts/operations/v1/workspace_export_service_pb";
import { PLATFORM_IDS, isPlatformId } from "@postrider/platforms/platform-id";
import { createAuditService } from "@postrider/shared/audit/service";
import { createParkedEventService } from "@postrider/shared/bus/parked";
import { serveMethods } from "@postrider/shared/connect/methods";
import { createRecoveryService } from "@postrider/shared/deployment/recovery";
import { anyObject, list, record, text } from "@postrider/shared/workspaces/column-checks";
import { createWorkspaceExportService } from "@postrider/shared/workspaces/export-service";
import {
  createRowImportService,
  type ImportRules,
} from "@postrider/shared/workspaces/import-service";
import { createSecretTransferService } from "@postrider/shared/workspaces/secret-transfer";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { countRefreshes } from "#src/db/workspace-moves.ts";
import { MAX_ACCOUNTS, MAX_KNOWN_ACCOUNTS } from "#src/operations/connections.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { movedSecrets } from "#src/operations/moved-secrets.ts";
import {
  batchGetAccounts,
  batchGetPostingAccounts,
  disconnectAccount,
  listAccounts,
  recordAvailable,
  requireReconnect,
} from "#src/rpc/account-service.ts";
import { getAccountSettings, updateAccountSettings } from "#src/rpc/account-settings-service.ts";
import { admit } from "#src/rpc/admit.ts";
import { createApiKey, listApiKeys, revokeApiKey } from "#src/rpc/api-key-service.ts";
import {
  findConnectLink,
  getAuthorization,
  issueConnectLink,
  openConnectLink,
} from "#src/rpc/authorization-service.ts";
import { connectAccount, connectSimulatedAccounts } from "#src/rpc/connect-account.ts";
import {
  batchGetCredentials,
  listSealingKeys,
  refreshCredential,
} from "#src/rpc/credential-service.ts";
import {
  getDashboardSession,
  issueDashboardLink,
  listDashboardSessions,
  openDashboardSession,
  revokeDashboardSessions,
} from "#src/rpc/dashboard-service.ts";
import { cancelWorkspaceDeletion, deleteWorkspace } from "#src/rpc/delete-workspace.ts";
import { finishAuthorization } from "#src/rpc/finish-authorization.ts";
import { moveAccount } from "#src/rpc/move-account.ts";
import { createWorkspaceImportService } from "#src/rpc/workspace-import-service.ts";
import { createWorkspaceMoveService } from "#src/rpc/workspace-move-service.ts";
import { createWorkspaceRemovalService } from "#src/rpc/workspace-removal-service.ts";
import {
  batchGetWorkspaces,
  createWorkspace,
  listWorkspaces,
  setWorkspaceLimits,
  verifyWorkspace,
} from "#src/rpc/workspace-service.ts";

export const IMPORT_RULES: ImportRules = {
  accounts: {
    columns: {
      platform: isPlatformId,
      // Each platform has some ten permissions and at most one trait.
      permissions: list(50, text(200)),
      traits: record(10, text(200)),
    },
    // Grants that name a connected account may have taken the workspace above its limits.
    max: [
      { count: 3 * MAX_ACCOUNTS, where: "status <> 'disconnected'" },
      { count: MAX_KNOWN_ACCOUNTS + MAX_ACCOUNTS, where: "true" },
    ],
  },
  account_settings: { columns: { settings: anyObject } },
};

export function createRoutes(deps: Dependencies): (router: ConnectRouter) => void {
  return (router) => {
    serveMethods(router, deps, AccountService, {
      listAccounts,
      batchGetAccounts,
      batchGetPostingAccounts,
      connectSimulatedAccounts,
      connectAccount,
      disconnectAccount,
      requireReconnect,
      recordAvailable,
      moveAccount,
    });
    serveMethods(router, deps, AccountSettingsService, {
      getAccountSettings,
      updateAccountSettings,
    });
    serveMethods(router, deps, AdmissionService, { admit });
    serveMethods(router, deps, ApiKeyService, { createApiKey, listApiKeys, revokeApiKey });
    serveMethods(router, deps, AuthorizationService, {
      issueConnectLink,
      getAuthorization,
      findConnectLink,
      openConnectLink,
      finishAuthorization,
    });
    serveMethods(router, deps, CredentialService, {
      batchGetCredentials,
      listSealingKeys,
      refreshCredential,
    });
    serveMethods(router, deps, DashboardService, {
      issueDashboardLink,
      openDashboardSession,
      getDashboardSession,
      listDashboardSessions,
      revokeDashboardSessions,
    });
    serveMethods(router, deps, WorkspaceService, {
      createWorkspace,
      listWorkspaces,
      batchGetWorkspaces,
      verifyWorkspace,
      setWorkspaceLimits,
      deleteWorkspace,
      cancelWorkspaceDeletion,
    });
    serveOthers(router, deps);
  };
}

/**
 * Services that are created as a whole. The accounts service consumes no events. Its parked events
 * are its own events that the broker has refused.
 */
function serveOthers(router: ConnectRouter, deps: Dependencies): void {
  router.service(PlatformService, createPlatformService(deps));
  router.service(WorkspaceRemovalService, createWorkspaceRemovalService(deps));
  router.service(RecoveryService, createRecoveryService(deps));
  router.service(AuditService, createAuditService(deps));
  router.service(
    WorkspaceExportService,
    createWorkspaceExportService(deps.sql, EXPORTED_TABLES, async (workspaceId) => {
      const count = await countRefreshes(deps.sql, workspaceId);
      return count === 0 ? [] : [`${count} token refreshes`];
    }),
  );
  router.service(WorkspaceMoveService, createWorkspaceMoveService(deps));
  router.service(SecretTransferService, createSecretTransferService(movedSecrets(deps)));
  router.service(WorkspaceImportService, createWorkspaceImportService(deps));
  const rows = { sql: deps.sql, tables: EXPORTED_TABLES, rules: IMPORT_RULES };
  router.service(RowImportService, createRowImportService(rows));
  router.service(ParkedEventService, createParkedEventService({ sql: deps.sql, handlers: [] }));
}

function createPlatformService({ connectors }: Pick<Dependencies, "connectors">) {
  const platforms = PLATFORM_IDS.map((platform) =>
    connectors[platform] === undefined
      ? { platform, available: false, unavailableReason: "not_configured" }
      : { platform, available: true },
  );
  return {
    listPlatforms: () => ({ platforms }),
  } satisfies ServiceImpl<typeof PlatformService>;
}
