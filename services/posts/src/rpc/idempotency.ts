import { conflict, unprocessable } from "@postrider/shared/errors";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import {
  findStoredResponse,
  isLockTimeout,
  takeIdempotencyKey,
  type IdempotencyScope,
} from "#src/db/idempotency-keys.ts";

/** A request that counts once, however often it is repeated with its key. */
export interface KeyedRequest extends IdempotencyScope {
  readonly fingerprint: string;
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
  const inProgress = () => conflict("idempotency_conflict", [], { retryAfterMs: 1000 });
  try {
    const { fingerprint } = keyed;
    if (await takeIdempotencyKey(tx, keyed, { fingerprint, response })) return undefined;
  } catch (error) {
    if (isLockTimeout(error)) throw inProgress();
    throw error;
  }
  const replay = await findReplay(tx, keyed);
  if (replay === undefined) throw inProgress();
  return replay;
}
