import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WorkspaceStorageSchema } from "@postrider/contracts/media/v1/storage_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { readStorage } from "#src/db/storage.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";

/** What a workspace stores and may store. */
export async function readWorkspaceStorage(
  { sql, storageBytes }: Pick<RpcDependencies, "sql" | "storageBytes">,
  workspaceId: string,
): Promise<MessageInitShape<typeof WorkspaceStorageSchema>> {
  if (!isId(workspaceId)) throw invalidRequest([{ code: "invalid", path: "/workspaceId" }]);
  const { usedBytes, reservedBytes, limitBytes } = await readStorage(sql, workspaceId);
  return {
    workspaceId,
    limitBytes: BigInt(limitBytes ?? storageBytes),
    isDefault: limitBytes === null,
    usedBytes: BigInt(usedBytes),
    reservedBytes: BigInt(reservedBytes),
  };
}
