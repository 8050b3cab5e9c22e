import type { ISql } from "@postrider/shared/postgres";

/**
 * Ends the leases that an earlier process with this owner id left behind when it was killed, so that their tasks can be
 * claimed now. Publishing calls are not touched: no process acts on them before `call_until`.
 *
 * If the earlier process still runs, its work is lost but nothing goes wrong: a task that is claimed again has a new fence,
 * and the earlier process can neither mark a call nor decide anything about it.
 *
 * @param owner Id that only this process and those before it have used, see `instanceId`.
 * @returns The number of ended leases.
 */
export async function endFormerLeases(sql: ISql, owner: string): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    with publish as (
      update publish_tasks
      set wake_at = now()
      where status in ('working', 'reconciling')
      and wake_at > now()
      and lease_owner = ${owner}
      returning 1
    ),
    deletion as (
      update deletion_tasks
      set wake_at = now()
      where status = 'working'
      and wake_at > now()
      and lease_owner = ${owner}
      returning 1
    )
    select ((select count(*) from publish) + (select count(*) from deletion))::int as count`;
  return row.count;
}
