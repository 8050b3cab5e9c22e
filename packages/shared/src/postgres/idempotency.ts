import postgres from "postgres";
import { conflict, unprocessable, type ServiceError } from "#src/errors.ts";
import type { ISql, Sql, TransactionSql } from "#src/postgres.ts";
import { startLoop } from "#src/process/loop.ts";
import type { Logger } from "#src/telemetry/logger.ts";

/**
 * A request that is carried out once, however often it is repeated with its idempotency key. Its response is stored in
 * the service's table `idempotency_keys`, as binary protobuf, for 24 hours.
 */
export interface KeyedRequest {
  readonly workspaceId: string;
  readonly operation: string;
  /** The idempotency key as the client sent it. */
  readonly key: string;
  /** Identifies the content of the request; equal for equal request bodies. */
  readonly fingerprint: string;
}

interface StoredResponse {
  readonly fingerprint: string;
  readonly response: Uint8Array;
}

const CLEAN_EVERY_MS = 10 * 60_000;
const CLEAN_PAGE_KEYS = 1000;

/** Error for a request whose idempotency key is used by another request that is still being processed. */
export function keyInProgress(): ServiceError {
  return conflict("idempotency_conflict", [], { retryAfterMs: 1000 });
}

/**
 * Returns the response to an earlier request with this idempotency key; undefined if there was no such request.
 *
 * @throws `idempotency_key_reused` when the earlier request had different contents.
 */
export async function findReplay(sql: ISql, keyed: KeyedRequest): Promise<Uint8Array | undefined> {
  const stored = await findStoredResponse(sql, keyed);
  if (stored === undefined) return undefined;
  if (stored.fingerprint !== keyed.fingerprint) throw unprocessable("idempotency_key_reused");
  return stored.response;
}

/**
 * Takes the idempotency key for this transaction, or returns the response to the request that already has the key. Call
 * it first in the transaction: while it waits for another transaction that has taken the key, its own transaction must
 * not hold locks that the other one may wait for.
 *
 * @throws `idempotency_conflict` when the other transaction has not ended after 2 s.
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
 * Takes an idempotency key for this transaction and stores its response, or takes nothing when another request has the
 * key. The unique index decides: while another transaction that has not committed holds the key, the insert waits for
 * at most 2 s, then fails with a lock timeout. A key older than 24 hours is free, even if it has not been deleted yet.
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
  // The timeout applies to the insert without an additional round trip, because both statements are sent together and
  // executed in order.
  const [, taken] = await Promise.all([tx`set local lock_timeout = '2s'`, insert]);
  return taken.length > 0;
}

/** Whether a statement waited too long for a lock, for example for an idempotency key that another transaction has taken. */
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

/** Deletes up to `limit` idempotency keys that are older than 24 hours, of all workspaces, and returns their number. */
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

/**
 * Starts a job that deletes expired idempotency keys in batches. Its timing does not matter, because an expired key is
 * free anyway.
 */
export function startCleaningIdempotencyKeys(sql: Sql, logger: Logger): AsyncDisposable {
  return startLoop({
    idleMs: CLEAN_EVERY_MS,
    work: async () => (await deleteExpiredKeys(sql, CLEAN_PAGE_KEYS)) === CLEAN_PAGE_KEYS,
    onError: (error) =>
      logger.warn(
        { err: error, job: "clean-idempotency-keys" },
        "expired idempotency keys could not be deleted; the next run of the job tries again",
      ),
  });
}
