import type { ISql } from "@postrider/shared/postgres";

/** What is another one than the data's. */
export type HoldReason = "system_identifier" | "database" | "deployment";

/** Where the data lies now, and whose it is; what a copy of it cannot take along. */
function presentHome(sql: ISql, deploymentId: string) {
  return sql`
    select system_identifier::text as system_identifier,
      (select oid::bigint from pg_database where datname = current_database()) as database_oid,
      ${deploymentId}::text as deployment_id
    from pg_control_system()`;
}

/** A row while the data lies where it belongs, for an `exists`: then the tokens in it are ours. */
export function dataAtHome(sql: ISql, deploymentId: string) {
  return sql`
    select 1
    from deployment d
    where (d.system_identifier, d.database_oid, d.deployment_id) = (${presentHome(sql, deploymentId)})`;
}

/** Writes where the data belongs unless somebody has: the first process that starts decides. */
export async function insertDeployment(sql: ISql, deploymentId: string): Promise<void> {
  await sql`
    insert into deployment (system_identifier, database_oid, deployment_id)
    ${presentHome(sql, deploymentId)}
    on conflict (only_row) do nothing`;
}

/** Why the tokens are not ours to use up; null when they are, undefined when nobody has written yet where they belong. */
export async function findHold(
  sql: ISql,
  deploymentId: string,
): Promise<HoldReason | null | undefined> {
  const [row] = await sql<{ reason: HoldReason | null }[]>`
    select case
        when d.system_identifier <> p.system_identifier then 'system_identifier'
        when d.database_oid <> p.database_oid then 'database'
        when d.deployment_id <> p.deployment_id then 'deployment'
      end as reason
    from deployment d
    cross join (${presentHome(sql, deploymentId)}) as p`;
  return row?.reason;
}

/**
 * Takes data over that belongs elsewhere. Of several at once one does it.
 *
 * @returns False when it belongs here already.
 */
export async function adoptDeployment(sql: ISql, deploymentId: string): Promise<boolean> {
  const result = await sql`
    update deployment d
    set system_identifier = p.system_identifier,
      database_oid = p.database_oid,
      deployment_id = p.deployment_id
    from (${presentHome(sql, deploymentId)}) as p
    where (d.system_identifier, d.database_oid, d.deployment_id)
      <> (p.system_identifier, p.database_oid, p.deployment_id)`;
  return result.count > 0;
}
