import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { isSessionOpen, type SessionLimits } from "#src/db/dashboard-sessions.ts";
import type { Grantor } from "#src/db/grantors.ts";
import { doesWork } from "#src/db/working-keys.ts";

export interface ApiKeyRow {
  readonly id: string;
  readonly prefix: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly workspaceIds: readonly string[];
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly createdAt: Date;
  /** Of `listApiKeysOfWorkspace` only. */
  readonly sessionCount?: number;
}

export interface NewApiKey {
  readonly id: string;
  readonly hash: Buffer;
  readonly prefix: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly workspaceIds: readonly string[];
  readonly expiresAt: Date | undefined;
  /** The key and the session that ask for this one. */
  readonly grantor: Grantor;
}

/** Returns undefined, and inserts nothing, when `expiresAt` has passed by the database's clock. */
export async function insertApiKey(sql: ISql, key: NewApiKey): Promise<ApiKeyRow | undefined> {
  const expiresAt = key.expiresAt ?? null;
  const [row] = await sql<ApiKeyRow[]>`
    with inserted as (
      insert into api_keys (id, hash, prefix, name, scopes, makers, expires_at)
      select ${key.id}, ${key.hash}, ${key.prefix}, ${key.name}, ${key.scopes}::text[],
        ${key.grantor.chain as string[]}::uuid[], least(
        ${expiresAt}::timestamptz,
        (select expires_at from api_keys where id = ${key.grantor.keyId ?? null})
      )
      where ${expiresAt}::timestamptz is null or ${expiresAt}::timestamptz > now()
      returning id, prefix, name, scopes, expires_at, last_used_at, created_at
    ),
    members as (
      insert into api_key_workspaces (api_key_id, workspace_id)
      select inserted.id, workspace_id
      from inserted, unnest(${key.workspaceIds}::uuid[]) as workspace_id
      returning workspace_id
    )
    select inserted.id, prefix, name, scopes, expires_at, last_used_at, created_at,
      array(select workspace_id from members order by workspace_id) as workspace_ids
    from inserted`;
  return row;
}

interface KeyCounts {
  readonly working: number;
  /** Made within the last day, also those that do not work any more. */
  readonly recent: number;
}

/** Of the workspace with the most. */
export async function countMostKeys(
  sql: ISql,
  workspaceIds: readonly string[],
): Promise<KeyCounts> {
  const [row] = await sql<[KeyCounts]>`
    select coalesce(max(working), 0)::int as working, coalesce(max(recent), 0)::int as recent
    from (
      select count(*) filter (where ${doesWork(sql)}) as working,
        count(*) filter (where k.created_at > now() - interval '1 day') as recent
      from api_key_workspaces m
      join api_keys k on k.id = m.api_key_id
      where m.workspace_id = any(${workspaceIds}::uuid[])
      group by m.workspace_id
    ) as counted`;
  return row;
}

/** Those that expired over a week ago are left out: nothing bounds how many have ended. */
export async function listApiKeysOfWorkspace(
  sql: ISql,
  workspaceId: string,
  limits: Pick<SessionLimits, "idleMs">,
): Promise<readonly ApiKeyRow[]> {
  return await sql<ApiKeyRow[]>`
    select k.id, k.prefix, k.name, k.scopes, k.expires_at, k.last_used_at, k.created_at,
      (
        select count(*)::int
        from dashboard_sessions s
        where s.api_key_id = k.id
        and s.workspace_id = ${workspaceId}
        and ${isSessionOpen(sql, limits)}
      ) as session_count,
      array(
        select every.workspace_id
        from api_key_workspaces every
        where every.api_key_id = k.id
        order by every.workspace_id
      ) as workspace_ids
    from api_key_workspaces m
    join api_keys k on k.id = m.api_key_id
    where m.workspace_id = ${workspaceId}
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > now() - interval '7 days')
    order by k.id desc`;
}

export type KeyOfChain = ApiKeyRow & { readonly isRevoked: boolean };

interface Chain {
  /** Of a key that is returned even if it has ended. */
  readonly id?: string;
  /** Ids of keys and sessions. */
  readonly makers: readonly string[];
}

/**
 * The keys that the makers made, and those that these made, as far as they work: of those that have
 * ended there can be more than one transaction ends.
 */
export async function listKeysOfChain(
  tx: TransactionSql,
  { id, makers }: Chain,
  lock = tx``,
): Promise<readonly KeyOfChain[]> {
  return await tx<KeyOfChain[]>`
    select k.id, k.prefix, k.name, k.scopes, k.expires_at, k.last_used_at, k.created_at,
      k.revoked_at is not null as is_revoked,
      array(
        select m.workspace_id
        from api_key_workspaces m
        where m.api_key_id = k.id
        order by m.workspace_id
      ) as workspace_ids
    from api_keys k
    where k.id = ${id ?? null}
    or (k.makers && ${makers as string[]}::uuid[] and ${doesWork(tx)})
    order by k.id
    ${lock}`;
}

/** In the order of their ids, as everywhere. */
export async function lockKeysOfChain(
  tx: TransactionSql,
  chain: Chain,
): Promise<readonly KeyOfChain[]> {
  const lock = tx`for no key update of k`;
  await listKeysOfChain(tx, chain, lock);
  // A second statement also sees the keys that were made while the first one waited.
  return await listKeysOfChain(tx, chain, lock);
}

/** Its sessions in the workspace must have been deleted before. */
export async function deleteApiKeyWorkspace(
  tx: TransactionSql,
  id: string,
  workspaceId: string,
): Promise<void> {
  await tx`
    delete from api_key_workspaces
    where api_key_id = ${id}
    and workspace_id = ${workspaceId}`;
}

export async function revokeApiKeyById(tx: TransactionSql, id: string): Promise<void> {
  await tx`
    update api_keys
    set revoked_at = now()
    where id = ${id}`;
}

/**
 * Writes the time of the last use of API keys and sessions. What another replica is writing at that
 * moment is skipped, because the two times differ by very little.
 */
export async function updateLastUsedAt(sql: ISql, ids: readonly string[]): Promise<void> {
  await sql`
    with sessions as (
      update dashboard_sessions
      set last_seen_at = now()
      where id in (
        select id
        from dashboard_sessions
        where id = any(${ids}::uuid[])
        and last_seen_at < now() - interval '1 minute'
        for no key update skip locked
      )
    )
    update api_keys
    set last_used_at = now()
    where id in (
      select id
      from api_keys
      where id = any(${ids}::uuid[])
      and (last_used_at is null or last_used_at < now() - interval '1 minute')
      for no key update skip locked
    )`;
}

/** Those that have not worked for 30 days. Their names stay in the audit log until its own end. */
export async function deleteOldKeys(sql: ISql, limit: number): Promise<number> {
  const { count } = await sql`
    with old as materialized (
      select id
      from api_keys
      where least(revoked_at, expires_at) < now() - interval '30 days'
      limit ${limit}
      for update skip locked
    ),
    members as (
      delete from api_key_workspaces
      using old
      where api_key_id = old.id
    )
    delete from api_keys
    using old
    where api_keys.id = old.id`;
  return count;
}

/** Those of the cells from which an API key was imported with a workspace. */
export async function listImportedCells(
  sql: ISql,
  cells: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql<{ cell: string }[]>`
    select cell
    from unnest(${cells as string[]}::text[]) as cell
    where exists (select from api_keys where imported_from = cell)`;
  return rows.map(({ cell }) => cell);
}
