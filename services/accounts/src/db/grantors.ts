import { ServiceError } from "@postrider/shared/errors";
import type { TransactionSql, ISql } from "@postrider/shared/postgres";
import type { RequestOrigin } from "@postrider/shared/telemetry/request-context";
import { doesWork } from "#src/db/working-keys.ts";

export interface Grantor {
  readonly keyId: string | undefined;
  /**
   * The session, its key, and the keys and sessions that made that, the first of the chain first;
   * empty for the operator.
   */
  readonly chain: readonly string[];
}

const ended = () => new ServiceError("unauthenticated", "unauthenticated");

/**
 * Locks the key and the session with which a key is made: gateways admit both for seconds after
 * they were revoked. A concurrent revocation waits, or this call fails. Keys come before sessions,
 * as in a revocation, so that the two never deadlock.
 *
 * @throws `unauthenticated` when the key or session has ended, or is not of all the workspaces.
 */
export async function lockGrantor(
  tx: TransactionSql,
  { keyId, sessionId }: Pick<RequestOrigin, "keyId" | "sessionId">,
  workspaceIds: readonly string[],
): Promise<Grantor> {
  const keys = keyId === undefined ? [] : await lockKey(tx, keyId, workspaceIds);
  if (sessionId === undefined) return { keyId, chain: keys };
  await lockSession(tx, sessionId, workspaceIds);
  return { keyId, chain: [...keys, sessionId] };
}

/** Returns the key after its makers. */
async function lockKey(
  tx: TransactionSql,
  id: string,
  workspaceIds: readonly string[],
): Promise<readonly string[]> {
  // With its makers: the revocation of one of them must find the new key, or end this call.
  await tx`
    select 1
    from api_keys
    where id = ${id}
    or id = any(array(select unnest(makers) from api_keys where id = ${id}))
    order by id
    for share`;
  const [key] = await tx<{ chain: string[] }[]>`
    select k.makers || k.id as chain
    from api_keys k
    where k.id = ${id}
    and ${doesWork(tx)}`;
  // In a statement of its own, which also sees what ended while this one waited for the lock.
  const members = await tx`
    select 1
    from api_key_workspaces
    where api_key_id = ${id}
    and workspace_id = any(${workspaceIds}::uuid[])`;
  if (key === undefined || members.length < workspaceIds.length) throw ended();
  return key.chain;
}

async function lockSession(
  tx: TransactionSql,
  id: string,
  workspaceIds: readonly string[],
): Promise<void> {
  const [session] = await tx`
    select 1
    from dashboard_sessions
    where id = ${id}
    and workspace_id = all(${workspaceIds}::uuid[])
    and expires_at > now()
    for share`;
  if (session === undefined) throw ended();
}

/** The keys that work and that a key or session made, or the keys that it made. */
export async function countMadeKeys(tx: TransactionSql, makerId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count
    from api_keys k
    where k.makers @> ${[makerId]}::uuid[]
    and ${doesWork(tx)}`;
  return row?.count ?? 0;
}

/** By an account with tokens: an imported one without them is only what its export says. */
export async function isConnectedElsewhere(sql: ISql, accountId: string): Promise<boolean> {
  const rows = await sql`
    select 1
    from accounts own
    join accounts other on other.platform = own.platform
      and other.external_id = own.external_id
      and other.id <> own.id
      and other.status <> 'disconnected'
    join credentials c on c.account_id = other.id and c.access_token is not null
    where own.id = ${accountId}
    limit 1`;
  return rows.length > 0;
}
