import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WorkspaceStorageSchema } from "@postrider/contracts/media/v1/storage_service_pb";
import { assertWorkspaceId } from "@postrider/shared/ids";
import { readStorage } from "#src/db/storage.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";

/** What a workspace stores and may store. Only a few calls run at the same time. */
export async function readWorkspaceStorage(
  {
    sql,
    storageBytes,
    storageTurns,
  }: Pick<RpcDependencies, "sql" | "storageBytes" | "storageTurns">,
  workspaceId: string,
): Promise<MessageInitShape<typeof WorkspaceStorageSchema>> {
  assertWorkspaceId(workspaceId);
  const { usedBytes, reservedBytes, limitBytes } = await storageTurns.run(
    () => readStorage(sql, workspaceId),
    { key: workspaceId },
  );
  return {
    workspaceId,
    limitBytes: BigInt(limitBytes ?? storageBytes),
    isDefault: limitBytes === null,
    usedBytes: BigInt(usedBytes),
    reservedBytes: BigInt(reservedBytes),
  };
}
