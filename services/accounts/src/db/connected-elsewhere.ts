import type { ISql } from "@postrider/shared/postgres";

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
