import type { Connection } from "@postrider/platforms/authorization/connector";
import type { SettingValues } from "@postrider/platforms/settings/read-settings";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";

interface AccountCount {
  readonly platform: string;
  readonly status: string;
  readonly count: number;
}

export async function countAccounts(
  sql: ISql,
  statuses: readonly string[],
): Promise<readonly AccountCount[]> {
  return await sql<AccountCount[]>`
    select platform, status, count(*) as count
    from accounts
    where status in ${sql(statuses)}
    group by platform, status`;
}

export type AccountStatus = "active" | "reconnect_required" | "disconnected";

export interface AccountRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly platform: string;
  readonly externalId: string;
  readonly username: string;
  readonly displayName: string;
  readonly avatarUrl: string | null;
  readonly status: AccountStatus;
  readonly version: number;
  readonly connectedAt: Date;
  /** Null unless a person has to connect the account again. */
  readonly accessEndedAt: Date | null;
  /** The platform's names of the granted permissions; null when the platform does not say. */
  readonly permissions: readonly string[] | null;
  /** Properties of the account on the platform that change its limits. */
  readonly traits: Readonly<Record<string, string>>;
  readonly tokenExpiresAt: Date | null;
  /** The settings that the workspace chose; null = it has chosen none. */
  readonly settings: SettingValues | null;
  /** What the platform offered when it was last asked, at most 24 hours ago; null = unknown. */
  readonly available: Readonly<Record<string, unknown>> | null;
}

/** Identifies an account: the id of its workspace and its own id, both as lower-case UUIDs. */
export interface AccountKey {
  readonly workspaceId: string;
  readonly accountId: string;
}

/**
 * SQL expression: what the platform offered account `a` when it was last asked. Older answers are
 * not used: the owner may have changed the account on the platform since then, and posts must not
 * be refused for what is no longer true.
 */
function freshAvailable(sql: ISql) {
  return sql`case when a.available_at > now() - interval '24 hours' then a.available end`;
}

function accountColumns(sql: ISql) {
  return sql`
    a.id, a.workspace_id, a.platform, a.external_id, a.username, a.display_name, a.avatar_url, a.status, a.version,
    a.connected_at, a.access_ended_at, a.permissions, a.traits, c.expires_at as token_expires_at, s.settings,
    ${freshAvailable(sql)} as available`;
}

export async function listAccountsOfWorkspace(
  sql: ISql,
  workspaceId: string,
): Promise<readonly AccountRow[]> {
  return await sql<AccountRow[]>`
    select ${accountColumns(sql)}
    from accounts a
    left join credentials c on c.account_id = a.id
    left join account_settings s on s.account_id = a.id
    where a.workspace_id = ${workspaceId}
    and a.status <> 'disconnected'
    order by a.connected_at desc, a.id desc`;
}

interface OwnAccounts {
  readonly connected: number;
  /** Also disconnected ones, which keep their rows. */
  readonly known: number;
}

export async function countOwnAccounts(sql: ISql, workspaceId: string): Promise<OwnAccounts> {
  const [row] = await sql<[OwnAccounts]>`
    select count(*) filter (where status <> 'disconnected')::int as connected, count(*)::int as known
    from accounts
    where workspace_id = ${workspaceId}`;
  return row;
}

/** Returns SQL for distinct rows of `workspace_id` and `account_id`. */
export function accountRefs(sql: ISql, keys: readonly AccountKey[]) {
  return sql`
    select distinct workspace_id, account_id
    from unnest(
      ${keys.map((key) => key.workspaceId)}::uuid[],
      ${keys.map((key) => key.accountId)}::uuid[]
    ) as ref (workspace_id, account_id)`;
}

/** An account of another workspace than its key says is missing in the result. */
export async function listAccountsByKeys(
  sql: ISql,
  keys: readonly AccountKey[],
): Promise<readonly AccountRow[]> {
  return await sql<AccountRow[]>`
    select ${accountColumns(sql)}
    from (${accountRefs(sql, keys)}) as ref
    join accounts a on a.id = ref.account_id and a.workspace_id = ref.workspace_id
    left join credentials c on c.account_id = a.id
    left join account_settings s on s.account_id = a.id`;
}

/** Returns the JSON of `BatchGetPostingAccountsResponse`, without disconnected accounts. */
export async function describePostingAccounts(
  sql: ISql,
  keys: readonly AccountKey[],
): Promise<string> {
  const [row] = await sql<{ accounts: string }[]>`
    select coalesce(json_agg(json_build_object(
      'workspaceId', a.workspace_id, 'id', a.id, 'platform', a.platform, 'username', a.username,
      'status', a.status, 'traits', a.traits, 'settings', s.settings, 'available', ${freshAvailable(sql)}
    )), '[]')::text as accounts
    from (${accountRefs(sql, keys)}) as ref
    join accounts a on a.id = ref.account_id and a.workspace_id = ref.workspace_id
    left join account_settings s on s.account_id = a.id
    where a.status <> 'disconnected'`;
  return row?.accounts ?? "[]";
}

/** `id` is used only if the workspace has never had this account. */
export type NewAccount = Pick<
  Connection,
  "externalId" | "username" | "displayName" | "avatarUrl" | "traits"
> & {
  readonly id: string;
  /** The platform's names of the granted permissions; undefined when the platform does not say. */
  readonly permissions: readonly string[] | undefined;
};

/** A stored account, and the status that it had before; null for a new account. */
export type UpsertedAccount = Omit<AccountRow, "tokenExpiresAt" | "available"> & {
  readonly statusBefore: AccountStatus | null;
};

/**
 * Stores connected accounts. If the workspace already has an account, connected or disconnected,
 * the account keeps its id and becomes active again. The rows are returned in no particular order,
 * each with the status that the account had before, or null for a new account.
 */
export async function upsertAccounts(
  tx: TransactionSql,
  workspaceId: string,
  platform: string,
  accounts: readonly NewAccount[],
): Promise<readonly UpsertedAccount[]> {
  const rows = accounts.map((account) => ({
    id: account.id,
    external_id: account.externalId,
    username: account.username,
    display_name: account.displayName,
    avatar_url: account.avatarUrl ?? null,
    permissions: account.permissions ?? null,
    traits: account.traits ?? {},
  }));
  // Every transaction locks account rows in the same order, so that two transactions that connect
  // the same accounts never deadlock.
  return await tx<UpsertedAccount[]>`
    with before as (
      select id, status
      from accounts
      where workspace_id = ${workspaceId}
      and platform = ${platform}
      and external_id = any(${accounts.map(({ externalId }) => externalId)}::text[])
    )
    insert into accounts (
      id, workspace_id, platform, external_id, username, display_name, avatar_url, permissions, traits, status
    )
    select id, ${workspaceId}, ${platform}, external_id, username, display_name, avatar_url, permissions, traits, 'active'
    from jsonb_to_recordset(${tx.json(rows)})
      as account (
        id uuid, external_id text, username text, display_name text, avatar_url text, permissions jsonb, traits jsonb
      )
    order by external_id
    on conflict (workspace_id, platform, external_id) do update
    set username = excluded.username,
      display_name = excluded.display_name,
      avatar_url = excluded.avatar_url,
      permissions = excluded.permissions,
      traits = excluded.traits,
      available = null,
      available_at = null,
      status = 'active',
      access_ended_at = null,
      version = accounts.version + 1,
      connected_at = now()
    returning id, workspace_id, platform, external_id, username, display_name, avatar_url, status, version, connected_at,
      access_ended_at,
      (select s.settings from account_settings s where s.account_id = accounts.id) as settings,
      permissions, traits,
      (select before.status from before where before.id = accounts.id) as status_before`;
}

type LockedAccount = Pick<AccountRow, "id" | "platform" | "externalId" | "status">;

export async function lockAccount(
  tx: TransactionSql,
  key: AccountKey,
): Promise<LockedAccount | undefined> {
  const [row] = await tx<LockedAccount[]>`
    select id, platform, external_id, status
    from accounts
    where workspace_id = ${key.workspaceId}
    and id = ${key.accountId}
    for update`;
  return row;
}

/** The version of an account after its status changed, and the time of the change. */
export interface StatusChange {
  readonly version: number;
  readonly changedAt: Date;
}

export async function setAccountStatus(
  tx: TransactionSql,
  key: AccountKey,
  status: AccountStatus,
): Promise<StatusChange> {
  const [row] = await tx<StatusChange[]>`
    update accounts
    set status = ${status},
      access_ended_at = case when ${status} = 'reconnect_required' then now() end,
      version = version + 1
    where workspace_id = ${key.workspaceId}
    and id = ${key.accountId}
    returning version, now() as changed_at`;
  if (row === undefined)
    throw new Error("setAccountStatus must be called after lockAccount in the same transaction");
  return row;
}
