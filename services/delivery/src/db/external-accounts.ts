import type { ISql, Sql } from "@postrider/shared/postgres";

/**
 * SQL: row `t`, a task or an action, is of the account or, whichever its workspace, of the same
 * account of the platform. A row that names none, as after a restore to a moment before its call,
 * is of each, except an imported one: its export may have named the ids of others. A call or a
 * search of an imported row names its account.
 */
export function isOfExternalAccount(
  sql: ISql,
  {
    accountId,
    externalAccountId,
  }: { readonly accountId: string; readonly externalAccountId: string },
) {
  return sql`
    (t.account_id = ${accountId} or coalesce(
      t.external_account_id,
      case when t.unconfirmed_account_id is null then ${externalAccountId} end
    ) = ${externalAccountId})`;
}

const TABLES = { publish_tasks: ["target_id", "generation"], comment_actions: ["id"] };
const ENDED = ["published", "succeeded", "failed", "dropped"];
const PAGE_ROWS = 1_000;

/**
 * Of a workspace that another cell has handed over: that cell has made the calls. A row that names
 * no account may have been imported there.
 */
export async function confirmExternalAccounts(sql: Sql, workspaceId: string): Promise<void> {
  for (const [table, key] of Object.entries(TABLES))
    for (let count = 1; count > 0;)
      ({ count } = await sql`
        update ${sql(table)}
        set external_account_id = unconfirmed_account_id,
          unconfirmed_account_id = null
        where (${sql(key)}) in (
          select ${sql(key)}
          from ${sql(table)}
          where workspace_id = ${workspaceId}
          and unconfirmed_account_id <> ''
          and status = any(${ENDED})
          limit ${PAGE_ROWS}
        )`);
}
