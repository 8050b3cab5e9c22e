import type { ServiceImpl } from "@connectrpc/connect";
import type { ApiKeyService } from "@postrider/contracts/accounts/v1/api_key_service_pb";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { createApiKey } from "#src/rpc/create-api-key.ts";
import { listApiKeys } from "#src/rpc/list-api-keys.ts";
import { revokeApiKey } from "#src/rpc/revoke-api-key.ts";

export function createApiKeyService(deps: Pick<Dependencies, "sql">) {
  return {
    createApiKey: (request) => createApiKey(deps, request),
    listApiKeys: (request) => listApiKeys(deps, request),
    revokeApiKey: (request) => revokeApiKey(deps, request),
  } satisfies ServiceImpl<typeof ApiKeyService>;
}
