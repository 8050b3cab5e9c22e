import type { ISql } from "@postrider/shared/postgres";

export interface AccountCount {
  readonly platform: string;
  readonly status: string;
  readonly count: number;
}

/** Counts, by platform and status, the accounts of all workspaces that have one of the given statuses. */
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
