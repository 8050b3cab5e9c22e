import type { ServiceImpl } from "@connectrpc/connect";
import type { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { batchGetCredentials } from "#src/rpc/batch-get-credentials.ts";
import { listSealingKeys } from "#src/rpc/list-sealing-keys.ts";
import { refreshCredential } from "#src/rpc/refresh-credential.ts";

export function createCredentialService(deps: Dependencies) {
  return {
    batchGetCredentials: (request) => batchGetCredentials(deps, request),
    listSealingKeys: () => listSealingKeys(deps),
    refreshCredential: (request) => refreshCredential(deps, request),
  } satisfies ServiceImpl<typeof CredentialService>;
}
