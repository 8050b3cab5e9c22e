import * as deployments from "@postrider/shared/deployment/table";
import type { ISql } from "@postrider/shared/postgres";
import { isInPlace } from "#src/db/data-place.ts";
import type { ClaimedTask, TaskKey } from "#src/publishing/domain/task.ts";
import { ONE_RESTORE_HOURS } from "./deployment.ts";
import { toKeyRows } from "./tasks.ts";

/**
 * An earlier restore counts as the latest again; the tasks are corrected later, in batches. The
 * conditions of `findTrustRefusal` are repeated, because another process may record a restore at
 * the same time. Returns false if nothing was changed.
 */
export async function trustRestore(
  sql: ISql,
  deploymentId: string,
  restoredAt: Date,
): Promise<boolean> {
  const result = await sql`
    update deployment d
    set restored_at = d.undo_restored_at,
      data_until = d.undo_data_until,
      trusted_at = d.restored_at
    where d.restored_at = ${restoredAt.toISOString()}::timestamptz
    and d.undo_for = d.restored_at
    and d.lossy_at is distinct from d.restored_at
    and d.restored_at >= now() - ${ONE_RESTORE_HOURS} * interval '1 hour'
    and ${deployments.isOwnData(sql, deploymentId)}
    and ${isInPlace(sql)}`;
  return result.count > 0;
}

export interface TrustedDoubt extends TaskKey {
  /** Of the first call with an unknown outcome before the restore; null without one. */
  readonly firstCalledAt: Date | null;
  readonly cause: ClaimedTask["cause"];
}

/**
 * Also those that ended with an unknown outcome. A task whose search runs is left out until it has
 * ended.
 */
export async function listTrustedDoubts(
  sql: ISql,
  options: { readonly limit: number; readonly targetIds?: readonly string[] },
): Promise<readonly TrustedDoubt[]> {
  const { limit, targetIds } = options;
  return await sql<TrustedDoubt[]>`
    select t.target_id, t.generation, t.cause, (
        select min(a.called_at)
        from publish_attempts a
        where a.target_id = t.target_id
        and a.generation = t.generation
        and coalesce(a.outcome, 'unknown') = 'unknown'
        and not a.is_not_sent
      ) as first_called_at
    from publish_tasks t
    join deployment d on d.trusted_at = t.doubted_at
    where t.is_restored
    -- The doubt itself counts as one unknown outcome.
    and t.open_unknowns > 0
    and (t.status = 'unknown' or (t.status = 'failed' and t.error_code = 'outcome_unknown'))
    ${targetIds === undefined ? sql`` : sql`and t.target_id in ${sql(targetIds)}`}
    order by t.target_id, t.generation
    limit ${limit}`;
}

/** So that an earlier restore can make the tasks uncertain again. */
export async function forgetDoubts(sql: ISql, keys: readonly TaskKey[]): Promise<void> {
  await sql`
    update publish_tasks t
    set doubted_at = null
    from jsonb_to_recordset(${sql.json(toKeyRows(keys))}) as k(target_id uuid, generation int)
    where t.target_id = k.target_id
    and t.generation = k.generation`;
}
