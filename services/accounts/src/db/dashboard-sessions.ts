import type { ISql, Sql, TransactionSql } from "@postrider/shared/postgres";
import { doesWork } from "#src/db/working-keys.ts";

/** How long a session lasts in all, and without a request. */
export interface SessionLimits {
  readonly lifetimeMs: number;
  readonly idleMs: number;
}

export interface SessionRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly scopes: readonly string[];
  /** Null for a session that was opened with a link. */
  readonly key: { readonly id: string; readonly name: string; readonly prefix: string } | null;
  readonly userAgent: string;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
}

/** What a login link or an API key allows the session that is opened with it. */
export interface Login {
  /** Undefined for a link. */
  readonly keyId: string | undefined;
  /** Null for a key, whose scopes the session has. */
  readonly scopes: readonly string[] | null;
  /** Of a link: its workspace. */
  readonly workspaceIds: readonly string[];
  readonly expiresAt: Date | null;
}

/** SQL for the conditions under which a session `s`, joined with its key `k`, has not ended. */
export function isSessionOpen(sql: Sql | ISql, { idleMs }: Pick<SessionLimits, "idleMs">) {
  return sql`
    s.expires_at > now()
    and s.last_seen_at > now() - ${idleMs} * interval '1 ms'
    and k.revoked_at is null
    and not exists (select from workspaces w where w.id = s.workspace_id and (w.removes_at is not null or w.moved_at is not null))`;
}

/** @returns When the link expires; undefined when the workspace does not exist. */
export async function insertLink(
  sql: ISql,
  link: {
    readonly id: string;
    readonly hash: Uint8Array;
    readonly workspaceId: string;
    readonly scopes: readonly string[];
  },
): Promise<Date | undefined> {
  const [row] = await sql<{ expiresAt: Date }[]>`
    insert into dashboard_links (id, hash, workspace_id, scopes, expires_at)
    select ${link.id}, ${link.hash}, id, ${link.scopes}::text[], now() + interval '10 minutes'
    from workspaces
    where id = ${link.workspaceId}
    and removes_at is null
    and moved_at is null
    returning expires_at`;
  return row?.expiresAt;
}

/** Uses a login link up. Of several concurrent calls for one link, one gets it. */
export async function takeLink(tx: TransactionSql, hash: Uint8Array): Promise<Login | undefined> {
  const [row] = await tx<{ scopes: readonly string[]; workspaceId: string }[]>`
    delete from dashboard_links l
    using workspaces w
    where l.hash = ${hash}
    and l.expires_at > now()
    and w.id = l.workspace_id
    and w.removes_at is null
    and w.moved_at is null
    returning l.scopes, l.workspace_id`;
  if (row === undefined) return undefined;
  const { scopes, workspaceId } = row;
  return { keyId: undefined, scopes, workspaceIds: [workspaceId], expiresAt: null };
}

/** The lock makes a concurrent revocation wait. It then also deletes the new session. */
export async function lockLoginKey(
  tx: TransactionSql,
  hash: Uint8Array,
): Promise<Login | undefined> {
  const [row] = await tx<Login[]>`
    select k.id as key_id, null::text[] as scopes, k.expires_at,
      array(
        select m.workspace_id
        from api_key_workspaces m
        join workspaces w on w.id = m.workspace_id
        where m.api_key_id = k.id
        and w.removes_at is null
        and w.moved_at is null
        order by m.workspace_id
      ) as workspace_ids
    from api_keys k
    where k.hash = ${hash}
    and ${doesWork(tx)}
    for share of k`;
  return row?.workspaceIds.length === 0 ? undefined : row;
}

/** The cell to which a workspace of the key, or the named one, was moved; "" if none was. */
export async function findMovedTo(
  tx: TransactionSql,
  hash: Uint8Array,
  workspaceId: string | undefined,
): Promise<string> {
  const [row] = await tx<{ movesTo: string }[]>`
    select w.moves_to
    from api_keys k
    join api_key_workspaces m on m.api_key_id = k.id
    join workspaces w on w.id = m.workspace_id
    where k.hash = ${hash}
    and k.revoked_at is null
    and w.moved_at is not null
    and (${workspaceId ?? null}::text is null or w.id::text = ${workspaceId ?? null})
    order by w.id
    limit 1`;
  return row?.movesTo ?? "";
}

export async function insertSession(
  tx: TransactionSql,
  session: Login & {
    readonly id: string;
    readonly hash: Uint8Array;
    readonly workspaceId: string;
    readonly userAgent: string;
    readonly lifetimeMs: number;
  },
): Promise<void> {
  const { id, hash, workspaceId, keyId = null, scopes, userAgent, expiresAt, lifetimeMs } = session;
  await tx`
    insert into dashboard_sessions (id, hash, workspace_id, api_key_id, scopes, user_agent, expires_at)
    values (
      ${id}, ${hash}, ${workspaceId}, ${keyId}, ${scopes}::text[], ${userAgent},
      least(now() + ${lifetimeMs} * interval '1 ms', ${expiresAt}::timestamptz)
    )`;
}

/** Newest first, without sessions that have ended; one session if an id is given. */
export async function listSessions(
  sql: ISql,
  workspaceId: string,
  limits: Pick<SessionLimits, "idleMs">,
  id: string | null = null,
): Promise<readonly SessionRow[]> {
  return await sql<SessionRow[]>`
    select s.id, s.workspace_id, coalesce(s.scopes, k.scopes) as scopes, s.user_agent, s.created_at, s.last_seen_at,
      s.expires_at,
      case when k.id is not null then jsonb_build_object('id', k.id, 'name', k.name, 'prefix', k.prefix) end as key
    from dashboard_sessions s
    left join api_keys k on k.id = s.api_key_id
    where s.workspace_id = ${workspaceId}
    and (${id}::uuid is null or s.id = ${id})
    and ${isSessionOpen(sql, limits)}
    order by s.id desc`;
}

/** Returns the ids of the deleted sessions: one, or all of the workspace without an id. */
export async function deleteSessions(
  tx: TransactionSql,
  workspaceId: string,
  id: string | null,
): Promise<readonly string[]> {
  const rows = await tx<{ id: string }[]>`
    delete from dashboard_sessions
    where workspace_id = ${workspaceId}
    and (${id}::uuid is null or id = ${id})
    returning id`;
  return rows.map((row) => row.id);
}

export async function deleteSessionsOfKey(
  tx: TransactionSql,
  keyId: string,
  workspaceId: string | null,
): Promise<void> {
  await tx`
    delete from dashboard_sessions
    where api_key_id = ${keyId}
    and (${workspaceId}::uuid is null or workspace_id = ${workspaceId})`;
}

/**
 * Deletes sessions and login links that have ended.
 *
 * @returns How many of the kind of which more were deleted.
 */
export async function deleteEndedSessions(
  sql: ISql,
  { idleMs }: Pick<SessionLimits, "idleMs">,
  limit: number,
): Promise<number> {
  const [row] = await sql<[{ deleted: number }]>`
    with links as (
      delete from dashboard_links
      where id in (select id from dashboard_links where expires_at <= now() limit ${limit})
      returning id
    ), sessions as (
      delete from dashboard_sessions
      where id in (
        select id
        from dashboard_sessions
        where expires_at <= now()
        or last_seen_at <= now() - ${idleMs} * interval '1 ms'
        limit ${limit}
      )
      returning id
    )
    select greatest((select count(*) from links), (select count(*) from sessions))::int as deleted`;
  return row.deleted;
}
