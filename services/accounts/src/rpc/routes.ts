import type { ConnectRouter } from "@connectrpc/connect";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { AdmissionService } from "@postrider/contracts/accounts/v1/admission_service_pb";
import { ApiKeyService } from "@postrider/contracts/accounts/v1/api_key_service_pb";
import { AuthorizationService } from "@postrider/contracts/accounts/v1/authorization_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { PlatformService } from "@postrider/contracts/accounts/v1/platform_service_pb";
import { RecoveryService } from "@postrider/contracts/accounts/v1/recovery_service_pb";
import { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { ParkedEventService } from "@postrider/contracts/operations/v1/parked_event_service_pb";
import { createParkedEventService } from "@postrider/shared/bus/parked";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { createAccountService } from "#src/rpc/account-service.ts";
import { createAdmissionService } from "#src/rpc/admission-service.ts";
import { createApiKeyService } from "#src/rpc/api-key-service.ts";
import { createAuthorizationService } from "#src/rpc/authorization-service.ts";
import { createCredentialService } from "#src/rpc/credential-service.ts";
import { createPlatformService } from "#src/rpc/platform-service.ts";
import { createRecoveryService } from "#src/rpc/recovery-service.ts";
import { createWorkspaceService } from "#src/rpc/workspace-service.ts";

export function createRoutes(deps: Dependencies): (router: ConnectRouter) => void {
  return (router) => {
    router.service(AccountService, createAccountService(deps));
    router.service(AdmissionService, createAdmissionService(deps));
    router.service(ApiKeyService, createApiKeyService(deps));
    router.service(AuthorizationService, createAuthorizationService(deps));
    router.service(CredentialService, createCredentialService(deps));
    router.service(PlatformService, createPlatformService(deps));
    router.service(RecoveryService, createRecoveryService(deps));
    router.service(WorkspaceService, createWorkspaceService(deps));
    // The accounts service consumes no events. Its parked events are its own events that the broker has refused.
    router.service(ParkedEventService, createParkedEventService({ sql: deps.sql, handlers: [] }));
  };
}
