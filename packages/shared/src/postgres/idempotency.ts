import postgres from "postgres";
import { conflict, unprocessable, type ServiceError } from "#src/errors.ts";
import type { ISql, Sql, TransactionSql } from "#src/postgres.ts";
import { startLoop } from "#src/process/loop.ts";
import type { Logger } from "#src/telemetry/logger.ts";

/**
 * A request that counts once, however often it is repeated with its key. What it was answered stands in the service's
 * own table `idempotency_keys`, in proto binary form, for 24 hours.
 */
export interface KeyedRequest {
  readonly workspaceId: string;
  readonly operation: string;
  /** As the client sent it. */
  readonly key: string;
  /** Tells requests apart; the same for the same body. */
  readonly fingerprint: string;
}

interface StoredResponse {
  readonly fingerprint: string;
  readonly response: Uint8Array;
}

const CLEAN_EVERY_MS = 10 * 60_000;
const CLEAN_PAGE_KEYS = 1000;

/** The key's request is being processed right now. */
export function keyInProgress(): ServiceError {
  return conflict("idempotency_conflict", [], { retryAfterMs: 1000 });
}

/**
 * What an earlier request with this key was answered, if there was one.
 *
 * @throws `idempotency_key_reused` when that was another request.
 */
export async function findReplay(sql: ISql, keyed: KeyedRequest): Promise<Uint8Array | undefined> {
  const stored = await findStoredResponse(sql, keyed);
  if (stored === undefined) return undefined;
  if (stored.fingerprint !== keyed.fingerprint) throw unprocessable("idempotency_key_reused");
  return stored.response;
}

/**
 * Takes the key for what this transaction makes, or returns what the request that has it was answered. It comes first in
 * the transaction: whoever waits for a key holds nothing that the key's holder could be waiting for.
 *
 * @throws `idempotency_conflict` when the request that has it takes longer than 2 seconds.
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
 * Takes a key for this transaction and stores its response with it, or takes nothing when another request has it. The
 * unique index decides: while another transaction holds the key uncommitted, this waits for it, at most 2 seconds, and
 * then fails with a lock time-out. A key older than 24 hours is free, whether or not it was tidied up.
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
  // Sent together: the time-out is in force when the insert runs, without a round trip of its own.
  const [, taken] = await Promise.all([tx`set local lock_timeout = '2s'`, insert]);
  return taken.length > 0;
}

function isLockTimeout(error: unknown): boolean {
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

/** Deletes up to `limit` keys that are older than 24 hours, of all workspaces, and returns how many. */
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

/** Deletes keys that no longer count, a page at a time. Nothing depends on when: an expired key is free anyway. */
export function startCleaningIdempotencyKeys(sql: Sql, logger: Logger): AsyncDisposable {
  return startLoop({
    idleMs: CLEAN_EVERY_MS,
    work: async () => (await deleteExpiredKeys(sql, CLEAN_PAGE_KEYS)) === CLEAN_PAGE_KEYS,
    onError: (error) =>
      logger.warn({ err: error, job: "clean-idempotency-keys" }, "old keys were not deleted"),
  });
}
