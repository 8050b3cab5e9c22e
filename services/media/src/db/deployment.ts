import type { Deployment } from "@postrider/shared/deployment/ownership";
import * as deployments from "@postrider/shared/deployment/table";
import type { ISql } from "@postrider/shared/postgres";

/** How long after a restore files are kept that no row of the database names. */
const KEPT_HOURS = 24;

export interface DeploymentState {
  readonly stored: Deployment;
  readonly current: Deployment;
  readonly isMoved: boolean;
  readonly ownedSince: Date;
  /**
   * Until when files that no row names are kept because of a restore; null without one in the last
   * day.
   */
  readonly keptUntil: Date | null;
  /** Number of the latest pass that could delete files. */
  readonly storePass: number;
}

export async function insertDeployment(sql: ISql, deploymentId: string): Promise<void> {
  await deployments.insertDeployment(sql, deploymentId, {
    names: sql`table_oid, timeline`,
    values: sql`${deployments.currentTable(sql)}, ${deployments.currentTimeline(sql)}`,
  });
}

export async function findDeployment(
  sql: ISql,
  deploymentId: string,
): Promise<DeploymentState | undefined> {
  const [row] = await sql<DeploymentState[]>`
    select ${deployments.ownershipColumns(sql, deploymentId)},
      (d.table_oid, d.timeline) <> (${deployments.currentTable(sql)}, ${deployments.currentTimeline(sql)}) as is_moved,
      d.owned_since,
      case
        when d.restored_at > now() - ${KEPT_HOURS} * interval '1 hour'
        then d.restored_at + ${KEPT_HOURS} * interval '1 hour'
      end as kept_until,
      d.store_pass::float8 as store_pass
    from deployment d
    cross join (${deployments.currentPlace(sql)}) as p`;
  return row;
}

/**
 * Records that the data was restored, unless it belongs to another deployment. `storePass`: the
 * number of a pass that the restored data does not know yet.
 */
export async function recordRestore(
  sql: ISql,
  deploymentId: string,
  storePass: number,
): Promise<void> {
  await sql`
    update deployment d
    set table_oid = ${deployments.currentTable(sql)},
      timeline = ${deployments.currentTimeline(sql)},
      restored_at = now(),
      store_pass = greatest(d.store_pass, ${storePass})
    where ${deployments.isOwnData(sql, deploymentId)}`;
}

/**
 * Returns the number of the counted pass; undefined when the data belongs to another deployment.
 */
export async function countStorePass(sql: ISql, deploymentId: string): Promise<number | undefined> {
  const [row] = await sql<{ storePass: number }[]>`
    update deployment d
    set store_pass = d.store_pass + 1
    where ${deployments.isOwnData(sql, deploymentId)}
    returning d.store_pass::float8 as store_pass`;
  return row?.storePass;
}

/** Returns false when the data belongs to this deployment already. */
export async function adoptDeployment(sql: ISql, deploymentId: string): Promise<boolean> {
  return await deployments.adoptDeployment(sql, deploymentId, {
    names: sql`table_oid, timeline, owned_since, restored_at`,
    values: sql`${deployments.currentTable(sql)}, ${deployments.currentTimeline(sql)}, now(), now()`,
  });
}
