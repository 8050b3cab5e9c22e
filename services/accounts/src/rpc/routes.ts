import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { AccountSettingsService } from "@postrider/contracts/accounts/v1/account_settings_service_pb";
import { AdmissionService } from "@postrider/contracts/accounts/v1/admission_service_pb";
import { ApiKeyService } from "@postrider/contracts/accounts/v1/api_key_service_pb";
import { AuthorizationService } from "@postrider/contracts/accounts/v1/authorization_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { PlatformService } from "@postrider/contracts/accounts/v1/platform_service_pb";
import { RecoveryService } from "@postrider/contracts/accounts/v1/recovery_service_pb";
import { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { AuditService } from "@postrider/contracts/operations/v1/audit_service_pb";
import { ParkedEventService } from "@postrider/contracts/operations/v1/parked_event_service_pb";
import { createAuditService } from "@postrider/shared/audit/service";
import { createParkedEventService } from "@postrider/shared/bus/parked";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { admit } from "#src/rpc/admit.ts";
import { batchGetAccounts } from "#src/rpc/batch-get-accounts.ts";
import { batchGetCredentials } from "#src/rpc/batch-get-credentials.ts";
import { batchGetWorkspaces } from "#src/rpc/batch-get-workspaces.ts";
import { connectAccount } from "#src/rpc/connect-account.ts";
import { connectSimulatedAccounts } from "#src/rpc/connect-simulated-accounts.ts";
import { createApiKey } from "#src/rpc/create-api-key.ts";
import { createWorkspace } from "#src/rpc/create-workspace.ts";
import { disconnectAccount } from "#src/rpc/disconnect-account.ts";
import { findTicket } from "#src/rpc/find-ticket.ts";
import { finishAuthorization } from "#src/rpc/finish-authorization.ts";
import { getAccountSettings } from "#src/rpc/get-account-settings.ts";
import { getTicket } from "#src/rpc/get-ticket.ts";
import { issueTicket } from "#src/rpc/issue-ticket.ts";
import { listAccounts } from "#src/rpc/list-accounts.ts";
import { listApiKeys } from "#src/rpc/list-api-keys.ts";
import { listSealingKeys } from "#src/rpc/list-sealing-keys.ts";
import { listWorkspaces } from "#src/rpc/list-workspaces.ts";
import { openTicket } from "#src/rpc/open-ticket.ts";
import { createPlatformService } from "#src/rpc/platform-service.ts";
import { createRecoveryService } from "#src/rpc/recovery-service.ts";
import { refreshCredential } from "#src/rpc/refresh-credential.ts";
import { requireReconnect } from "#src/rpc/require-reconnect.ts";
import { resealCredentials } from "#src/rpc/reseal-credentials.ts";
import { revokeApiKey } from "#src/rpc/revoke-api-key.ts";
import { setWorkspaceLimits } from "#src/rpc/set-workspace-limits.ts";
import { updateAccountSettings } from "#src/rpc/update-account-settings.ts";
import { verifyWorkspace } from "#src/rpc/verify-workspace.ts";

export function createRoutes(deps: Dependencies): (router: ConnectRouter) => void {
  return (router) => {
    router.service(AccountService, {
      listAccounts: (request) => listAccounts(deps, request),
      batchGetAccounts: (request) => batchGetAccounts(deps, request),
      connectSimulatedAccounts: (request) => connectSimulatedAccounts(deps, request),
      connectAccount: (request) => connectAccount(deps, request),
      disconnectAccount: (request) => disconnectAccount(deps, request),
      requireReconnect: (request) => requireReconnect(deps, request),
    } satisfies ServiceImpl<typeof AccountService>);
    router.service(AccountSettingsService, {
      getAccountSettings: (request) => getAccountSettings(deps, request),
      updateAccountSettings: (request) => updateAccountSettings(deps, request),
    } satisfies ServiceImpl<typeof AccountSettingsService>);
    router.service(AdmissionService, {
      admit: (request) => admit(deps, request),
    } satisfies ServiceImpl<typeof AdmissionService>);
    router.service(ApiKeyService, {
      createApiKey: (request) => createApiKey(deps, request),
      listApiKeys: (request) => listApiKeys(deps, request),
      revokeApiKey: (request) => revokeApiKey(deps, request),
    } satisfies ServiceImpl<typeof ApiKeyService>);
    // A "ticket" in the RPC contract is an authorization, which is identified by its connect link.
    router.service(AuthorizationService, {
      issueTicket: (request) => issueTicket(deps, request),
      getTicket: (request) => getTicket(deps, request),
      findTicket: (request) => findTicket(deps, request),
      openTicket: (request) => openTicket(deps, request),
      finishAuthorization: (request) => finishAuthorization(deps, request),
    } satisfies ServiceImpl<typeof AuthorizationService>);
    router.service(CredentialService, {
      batchGetCredentials: (request) => batchGetCredentials(deps, request),
      listSealingKeys: () => listSealingKeys(deps),
      refreshCredential: (request) => refreshCredential(deps, request),
      resealCredentials: (request) => resealCredentials(deps, request),
    } satisfies ServiceImpl<typeof CredentialService>);
    router.service(PlatformService, createPlatformService(deps));
    router.service(RecoveryService, createRecoveryService(deps));
    router.service(WorkspaceService, {
      createWorkspace: (request) => createWorkspace(deps, request),
      listWorkspaces: () => listWorkspaces(deps),
      batchGetWorkspaces: (request) => batchGetWorkspaces(deps, request),
      verifyWorkspace: (request) => verifyWorkspace(deps, request),
      setWorkspaceLimits: (request) => setWorkspaceLimits(deps, request),
    } satisfies ServiceImpl<typeof WorkspaceService>);
    // The accounts service consumes no events. Its parked events are its own events that the broker has refused.
    router.service(AuditService, createAuditService(deps));
    router.service(ParkedEventService, createParkedEventService({ sql: deps.sql, handlers: [] }));
  };
}
