import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import postgres from "postgres";

/** A key as the client sent it, and where it counts. */
export interface IdempotencyScope {
  readonly workspaceId: string;
  readonly operation: string;
  readonly key: string;
}

/** What the first request with a key was, and what it was answered. */
export interface StoredResponse {
  readonly fingerprint: string;
  /** The response's message in proto binary form. */
  readonly response: Uint8Array;
}

/**
 * Takes a key for this transaction and stores its response with it, or takes nothing when another request has it. The
 * unique index decides: while another transaction holds the key uncommitted, this waits for it, at most 2 seconds, and
 * then fails with a lock time-out. A key older than 24 hours is free, whether or not it was tidied up.
 */
export async function takeIdempotencyKey(
  tx: TransactionSql,
  scope: IdempotencyScope,
  stored: StoredResponse,
): Promise<boolean> {
  const insert = tx`
    insert into idempotency_keys (workspace_id, operation, key, fingerprint, response)
    values (${scope.workspaceId}, ${scope.operation}, ${scope.key}, ${stored.fingerprint}, ${stored.response})
    on conflict (workspace_id, operation, key) do update
    set fingerprint = excluded.fingerprint,
      response = excluded.response,
      created_at = excluded.created_at
    where idempotency_keys.created_at < now() - interval '24 hours'
    returning 1`;
  // Sent together: the time-out is in force when the insert runs, without a round trip of its own.
  const [, taken] = await Promise.all([tx`set local lock_timeout = '2s'`, insert]);
  return taken.length > 0;
}

/** Whether a statement gave up waiting for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === "55P03";
}

export async function findStoredResponse(
  sql: ISql,
  scope: IdempotencyScope,
): Promise<StoredResponse | undefined> {
  const [row] = await sql<StoredResponse[]>`
    select fingerprint, response
    from idempotency_keys
    where workspace_id = ${scope.workspaceId}
    and operation = ${scope.operation}
    and key = ${scope.key}
    and created_at >= now() - interval '24 hours'`;
  return row;
}

/** Deletes up to `limit` keys that are older than 24 hours, of all workspaces, and returns how many. */
export async function deleteExpiredKeys(sql: ISql, limit: number): Promise<number> {
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
