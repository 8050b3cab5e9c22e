import postgres from "postgres";
import { conflict, unprocessable, type ServiceError } from "#src/errors.ts";
import type { ISql, TransactionSql } from "#src/postgres.ts";
import type { RowCleaning } from "#src/postgres/clean-rows.ts";

/** The response is stored as binary protobuf in `idempotency_keys` for 24 hours. */
export interface KeyedRequest {
  readonly workspaceId: string;
  readonly operation: string;
  /** As the client sent it. */
  readonly key: string;
  /** Equal for equal request bodies. */
  readonly fingerprint: string;
}

interface StoredResponse {
  readonly fingerprint: string;
  readonly response: Uint8Array;
}

export function keyInProgress(): ServiceError {
  return conflict("idempotency_conflict", [], { retryAfterMs: 1000 });
}

/** @throws `idempotency_key_reused` when the earlier request had different contents. */
export async function findReplay(sql: ISql, keyed: KeyedRequest): Promise<Uint8Array | undefined> {
  const stored = await findStoredResponse(sql, keyed);
  if (stored === undefined) return undefined;
  if (stored.fingerprint !== keyed.fingerprint) throw unprocessable("idempotency_key_reused");
  return stored.response;
}

/**
 * Or returns the response to the request that has the key. Call it first in the transaction: while
 * it waits for another that has taken the key, it must not hold locks that the other may wait for.
 *
 * @throws `idempotency_conflict` after 2 s.
 */
export async function takeKeyOrReplay(
  tx: TransactionSql,
  keyed: KeyedRequest,
  response: Uint8Array,
): Promise<Uint8Array | undefined> {
  try {
    if (await takeKey(tx, keyed, response)) return undefined;
  } catch (error) {
    if (isLockTimeout(error)) throw keyInProgress();
    throw error;
  }
  const replay = await findReplay(tx, keyed);
  if (replay === undefined) throw keyInProgress();
  return replay;
}

/**
 * Takes nothing when another request has the key. The unique index decides: while an open
 * transaction holds the key, the insert waits for at most 2 s, then fails with a lock timeout. A
 * key older than 24 hours is free, even if it is not deleted yet.
 */
async function takeKey(
  tx: TransactionSql,
  { workspaceId, operation, key, fingerprint }: KeyedRequest,
  response: Uint8Array,
): Promise<boolean> {
  const insert = tx`
    insert into idempotency_keys (workspace_id, operation, key, fingerprint, response)
    values (${workspaceId}, ${operation}, ${key}, ${fingerprint}, ${response})
    on conflict (workspace_id, operation, key) do update
    set fingerprint = excluded.fingerprint,
      response = excluded.response,
      created_at = excluded.created_at
    where idempotency_keys.created_at < now() - interval '24 hours'
    returning 1`;
  // Without an additional round trip: both are sent together and executed in order.
  const [, taken] = await Promise.all([tx`set local lock_timeout = '2s'`, insert]);
  return taken.length > 0;
}

/** Whether a wait for a lock timed out, for example for an idempotency key in use. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === "55P03";
}

async function findStoredResponse(
  sql: ISql,
  { workspaceId, operation, key }: KeyedRequest,
): Promise<StoredResponse | undefined> {
  const [row] = await sql<StoredResponse[]>`
    select fingerprint, response
    from idempotency_keys
    where workspace_id = ${workspaceId}
    and operation = ${operation}
    and key = ${key}
    and created_at >= now() - interval '24 hours'`;
  return row;
}

/** Older than 24 hours, of all workspaces. */
async function deleteExpiredKeys(sql: ISql, limit: number): Promise<number> {
  const deleted = await sql`
    delete from idempotency_keys
    where (workspace_id, operation, key) in (
      select workspace_id, operation, key
      from idempotency_keys
      where created_at < now() - interval '24 hours'
      order by created_at
      limit ${limit}
      for update skip locked
    )`;
  return deleted.count;
}

/** When it runs does not matter, because an expired key is free anyway. */
export const EXPIRED_IDEMPOTENCY_KEYS: RowCleaning = {
  job: "clean-idempotency-keys",
  rows: "expired idempotency keys",
  idleMs: 10 * 60_000,
  pageRows: 1000,
  deleteRows: deleteExpiredKeys,
};
