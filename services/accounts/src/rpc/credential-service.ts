import type { ServiceImpl } from "@connectrpc/connect";
import type { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { batchGetCredentials } from "#src/rpc/batch-get-credentials.ts";
import type { RpcDependencies } from "#src/rpc/dependencies.ts";
import { listSealingKeys } from "#src/rpc/list-sealing-keys.ts";
import { refreshCredential } from "#src/rpc/refresh-credential.ts";

/** The RPCs of CredentialService. */
export function createCredentialService(deps: RpcDependencies) {
  return {
    batchGetCredentials: (request) => batchGetCredentials(deps, request),
    listSealingKeys: () => listSealingKeys(deps),
    refreshCredential: (request) => refreshCredential(deps, request),
  } satisfies ServiceImpl<typeof CredentialService>;
}
