import type { ServiceImpl } from "@connectrpc/connect";
import type { StorageService } from "@postrider/contracts/media/v1/storage_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { invalidRequest } from "@postrider/shared/errors";
import { assertWorkspaceId } from "@postrider/shared/ids";
import { lockStorage, readStorage, setStorageLimit } from "#src/db/storage.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { readWorkspaceStorage } from "#src/operations/read-workspace-storage.ts";

type Deps = Pick<RpcDependencies, "sql" | "storageBytes" | "storageTurns">;

export function createStorageService(deps: Deps): ServiceImpl<typeof StorageService> {
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
async function changeLimit({ sql }: Pick<Deps, "sql">, workspaceId: string, bytes: number | null) {
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
