import type { ISql } from "#src/postgres.ts";
import { compareDeployments, type Deployment } from "./ownership.ts";

export function currentTable(sql: ISql) {
  return sql`'deployment'::regclass::oid::bigint`;
}

/** `pg_control_checkpoint()` still returns the older timeline shortly after a promotion. */
export function currentTimeline(sql: ISql) {
  return sql`('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int`;
}

type Fragment = ReturnType<ISql>;

export interface FurtherColumns {
  readonly names: Fragment;
  /** `p` stands for the current cluster and database, on adoption `d` for the table. */
  readonly values: Fragment;
}

/** Every role may read both ids. */
export function currentPlace(sql: ISql): Fragment {
  return sql`
    select system_identifier::text as system_identifier,
      (select oid::bigint from pg_database where datname = current_database()) as database_oid
    from pg_control_system()`;
}

/** SQL condition for a query that names the table `deployment` as `d`. */
export function isOwnData(sql: ISql, deploymentId: string): Fragment {
  return sql`
    (d.deployment_id = ${deploymentId}
      and (d.system_identifier, d.database_oid) = (${currentPlace(sql)}))`;
}

function further(sql: ISql, fragment: Fragment | undefined): Fragment {
  return fragment === undefined ? sql`` : sql`, ${fragment}`;
}

/** Unless an owner is recorded: the first process that starts decides. */
export async function insertDeployment(
  sql: ISql,
  deploymentId: string,
  more?: FurtherColumns,
): Promise<void> {
  await sql`
    insert into deployment (system_identifier, database_oid, deployment_id${further(sql, more?.names)})
    select p.system_identifier, p.database_oid, ${deploymentId}${further(sql, more?.values)}
    from (${currentPlace(sql)}) as p
    on conflict (only_row) do nothing`;
}

/** `stored` and `current`: to compare the owner in the table `d` with the current place `p`. */
export function ownershipColumns(sql: ISql, deploymentId: string): Fragment {
  return sql`
    json_build_object(
      'systemIdentifier', d.system_identifier,
      'databaseOid', d.database_oid,
      'deploymentId', d.deployment_id
    ) as stored,
    json_build_object(
      'systemIdentifier', p.system_identifier,
      'databaseOid', p.database_oid,
      'deploymentId', ${deploymentId}::text
    ) as current`;
}

/** Only for a table `deployment` without additional columns. */
export async function readOwnership(
  sql: ISql,
  deploymentId: string,
): Promise<ReturnType<typeof compareDeployments>> {
  const [row] = await sql<{ stored: Deployment; current: Deployment }[]>`
    select ${ownershipColumns(sql, deploymentId)}
    from deployment d
    cross join (${currentPlace(sql)}) as p`;
  if (row !== undefined) return compareDeployments(row.stored, row.current);
  await insertDeployment(sql, deploymentId);
  return { kind: "own" };
}

/** One of several concurrent calls adopts. Returns false if this deployment owns the data. */
export async function adoptDeployment(
  sql: ISql,
  deploymentId: string,
  more?: FurtherColumns,
): Promise<boolean> {
  const result = await sql`
    update deployment d
    set (system_identifier, database_oid, deployment_id${further(sql, more?.names)})
      = row(p.system_identifier, p.database_oid, ${deploymentId}::text${further(sql, more?.values)})
    from (${currentPlace(sql)}) as p
    where (d.system_identifier, d.database_oid, d.deployment_id)
      <> (p.system_identifier, p.database_oid, ${deploymentId})`;
  return result.count > 0;
}
