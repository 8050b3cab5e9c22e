import { unprocessable } from "@postrider/shared/errors";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import type { ISql, Sql, TransactionSql } from "@postrider/shared/postgres";
import { addStorageChanges, lockStorage, MIN_FILE_BYTES, readStorage } from "#src/db/storage.ts";

const MAX_UPLOADS = 1_000;
/** Bounds the rows of a workspace. Rejected media count until their rows are deleted. */
const MAX_MEDIA = 1_000_000;

export interface StorageDemand {
  readonly workspaceId: string;
  readonly bytes: number;
  readonly defaultLimitBytes: number;
}

/**
 * One transaction per workspace, and half of the default database connections in total. The others
 * wait without a connection.
 */
export type StorageTurns = Semaphore;

export function createStorageTurns(): StorageTurns {
  return new Semaphore({
    total: 4,
    perKey: 1,
    maxWaiting: 1_000,
    maxWaitingPerShare: 125,
    maxWaitMs: 10_000,
  });
}

/**
 * Pending uploads count with their declared bytes.
 *
 * @throws `quota_exceeded`
 */
async function assertStorage(sql: ISql, demand: StorageDemand): Promise<number> {
  const { workspaceId, defaultLimitBytes } = demand;
  const requested = Math.max(demand.bytes, MIN_FILE_BYTES);
  const {
    usedBytes: used,
    reservedBytes: reserved,
    uploadCount,
    mediaCount,
    limitBytes,
  } = await readStorage(sql, workspaceId);
  if (mediaCount >= MAX_MEDIA)
    throw unprocessable("quota_exceeded", [
      { code: "stored_files", limit: MAX_MEDIA, actual: mediaCount },
    ]);
  const limit = limitBytes ?? defaultLimitBytes;
  if (used + reserved + requested <= limit) return uploadCount;
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

interface Deps {
  readonly sql: Sql;
  readonly storageTurns: StorageTurns;
}

/** @throws `quota_exceeded`, `unavailable` */
export async function checkStorage(deps: Deps, demand: StorageDemand): Promise<void> {
  const work = () => assertStorage(deps.sql, demand);
  await deps.storageTurns.run(work, { key: demand.workspaceId });
}

/**
 * Runs the transaction that inserts the media of a file. Concurrent calls cannot exceed the limit
 * together.
 *
 * @throws `quota_exceeded`, `unavailable` and what `work` throws.
 */
export async function storeWithinLimit<T>(
  { sql, storageTurns }: Deps,
  demand: StorageDemand,
  work: (tx: TransactionSql, uploadCount: number) => Promise<T>,
) {
  using _turn = await storageTurns.acquire({ key: demand.workspaceId });
  return await sql.begin(async (tx) => {
    await lockStorage(tx, demand.workspaceId);
    await addStorageChanges(tx, demand.workspaceId);
    return await work(tx, await assertStorage(tx, demand));
  });
}

/** @throws `quota_exceeded` */
export function assertUploadCount(uploadCount: number): void {
  if (uploadCount < MAX_UPLOADS) return;
  throw unprocessable("quota_exceeded", [
    { code: "pending_uploads", limit: MAX_UPLOADS, actual: uploadCount },
  ]);
}
