import type { SettingValues } from "@postrider/platforms/settings/read-settings";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { AccountKey, AccountStatus } from "#src/db/accounts.ts";

/**
 * Stores what the platform offers an account now. Of two answers at the same time either may stay.
 */
export async function setAvailable(
  sql: ISql,
  { workspaceId, accountId }: AccountKey,
  values: Readonly<Record<string, unknown>>,
): Promise<void> {
  await sql`
    update accounts
    set available = ${sql.json(values as Record<string, never>)},
      available_at = now()
    where workspace_id = ${workspaceId}
    and id = ${accountId}
    and status <> 'disconnected'`;
}

export interface AccountSettingsRow {
  readonly platform: string;
  readonly status: AccountStatus;
  readonly settings: SettingValues;
}

export async function findAccountSettings(
  sql: ISql,
  { workspaceId, accountId }: AccountKey,
): Promise<AccountSettingsRow | undefined> {
  const [row] = await sql<AccountSettingsRow[]>`
    select a.platform, a.status, coalesce(s.settings, '{}') as settings
    from accounts a
    left join account_settings s on s.account_id = a.id
    where a.workspace_id = ${workspaceId}
    and a.id = ${accountId}`;
  return row;
}

export async function upsertAccountSettings(
  tx: TransactionSql,
  { workspaceId, accountId }: AccountKey,
  settings: SettingValues,
): Promise<void> {
  // The lock of the account's row makes concurrent changes of its settings run one after the other,
  // so that no change overwrites one that it has not read.
  await tx`
    insert into account_settings (account_id, workspace_id, settings)
    values (${accountId}, ${workspaceId}, ${tx.json(settings as Record<string, never>)})
    on conflict (account_id) do update
    set settings = excluded.settings,
      version = account_settings.version + 1,
      updated_at = now()`;
}
