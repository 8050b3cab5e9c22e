import { unprocessable } from "@postrider/shared/errors";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { lockStorage, readStorage } from "#src/db/storage.ts";

/** A file that a workspace wants to store. */
export interface StorageDemand {
  readonly workspaceId: string;
  readonly bytes: number;
  /** Maximum number of bytes of a workspace without a limit of its own. */
  readonly defaultLimitBytes: number;
}

/**
 * Refuses a file that exceeds the storage limit of its workspace. Pending uploads count with their declared bytes.
 *
 * @throws `quota_exceeded`.
 */
export async function assertStorage(sql: ISql, demand: StorageDemand): Promise<void> {
  const { workspaceId, bytes: requested, defaultLimitBytes } = demand;
  const {
    usedBytes: used,
    reservedBytes: reserved,
    limitBytes,
  } = await readStorage(sql, workspaceId);
  const limit = limitBytes ?? defaultLimitBytes;
  if (used + reserved + requested <= limit) return;
  throw unprocessable("quota_exceeded", [
    {
      code: "storage",
      limit,
      used: BigInt(used),
      reserved: BigInt(reserved),
      requested: BigInt(requested),
    },
  ]);
}

/**
 * Refuses, like `assertStorage`, a file that exceeds the storage limit of its workspace. It runs in the transaction
 * that inserts the media, so that concurrent files cannot exceed the limit together.
 */
export async function takeStorage(tx: TransactionSql, demand: StorageDemand): Promise<void> {
  await lockStorage(tx, demand.workspaceId);
  await assertStorage(tx, demand);
}
