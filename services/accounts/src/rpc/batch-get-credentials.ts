import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetCredentialsRequest,
  BatchGetCredentialsResponseSchema,
} from "@postrider/contracts/accounts/v1/credential_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { listFreshCredentials } from "#src/operations/list-fresh-credentials.ts";
import { toAccountKeys } from "#src/rpc/to-account-key.ts";
import { toCredential } from "#src/rpc/to-credential.ts";

const MAX_REFS = 500;

export async function batchGetCredentials(
  deps: Dependencies,
  request: BatchGetCredentialsRequest,
): Promise<MessageInitShape<typeof BatchGetCredentialsResponseSchema>> {
  if (request.refs.length > MAX_REFS) throw invalidRequest([{ code: "too_many", path: "/refs" }]);
  const rows = await listFreshCredentials(deps, toAccountKeys(request.refs));
  const rowByKey = new Map(rows.map((row) => [`${row.workspaceId}/${row.accountId}`, row]));
  const credentials = await Promise.all(
    request.refs.map((ref) =>
      toCredential(deps, ref, rowByKey.get(`${ref.workspaceId}/${ref.accountId}`)),
    ),
  );
  return { credentials };
}
