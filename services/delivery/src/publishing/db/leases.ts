import type { ISql } from "@postrider/shared/postgres";
import type { ClaimedTask, HeldKey, TaskKey } from "#src/publishing/domain/task.ts";
import { inWorkFloor, type TaskFloors } from "./task-floors.ts";
import { toHeldRows } from "./tasks.ts";

/**
 * Common table expressions: `asked` contains the given keys of publish tasks, and `ours` locks and contains those of these
 * tasks that have one of the statuses and that the worker still holds. Tasks are locked in the order of their keys, so that two
 * statements with the same tasks cannot deadlock.
 */
function heldTasks(sql: ISql, held: readonly HeldKey[], statuses: readonly string[]) {
  return sql`
    asked as (
      select target_id, generation, fence
      from jsonb_to_recordset(${sql.json(toHeldRows(held))})
        as k(target_id uuid, generation int, fence bigint)
    ),
    ours as materialized (
      select t.target_id, t.generation, t.fence, t.status
      from asked k
      join publish_tasks t
        on t.target_id = k.target_id and t.generation = k.generation and t.fence = k.fence
      where t.status in ${sql(statuses)}
      order by t.target_id, t.generation
      for update of t
    )`;
}

/**
 * Renews the leases of publish tasks. A task in its publishing call needs no lease, because no other process works on
 * the task before `call_until`.
 *
 * @returns Those of the given keys whose tasks this process still holds.
 */
export async function renewLeases(
  sql: ISql,
  held: readonly HeldKey[],
  leaseMs: number,
): Promise<readonly HeldKey[]> {
  return await sql<HeldKey[]>`
    with ${heldTasks(sql, held, ["working", "reconciling", "calling"])},
    renewed as (
      update publish_tasks t
      set wake_at = now() + ${leaseMs} * interval '1 millisecond'
      from ours k
      where t.target_id = k.target_id
      and t.generation = k.generation
      and k.status <> 'calling'
    )
    -- The locked rows show a publishing call that began while this statement waited for the lock.
    select target_id, generation, fence
    from ours`;
}

/**
 * Releases publish tasks whose publishing call has not begun: they can be claimed again after `delayMs`. The release does not
 * count as an attempt.
 */
export async function releaseTasks(
  sql: ISql,
  held: readonly HeldKey[],
  delayMs: number,
): Promise<void> {
  await sql`
    with ${heldTasks(sql, held, ["working", "reconciling"])}
    update publish_tasks t
    set status = case when t.status = 'reconciling' then 'unknown' else 'queued' end,
      wake_at = now() + ${delayMs} * interval '1 millisecond',
      lease_owner = null,
      version = t.version + 1,
      updated_at = now()
    from ours k
    where t.target_id = k.target_id
    and t.generation = k.generation`;
}

/** A publishing call whose `call_until` has passed and whose outcome no worker has recorded. */
export interface LostCall extends TaskKey {
  readonly callNumber: number;
  readonly attemptNumber: number;
  readonly cause: ClaimedTask["cause"];
}

/**
 * @param floors Search floors from the last search for tasks; earlier publishing calls are not read. If null, all
 * publishing calls are read.
 */
export async function listLostCalls(
  sql: ISql,
  limit: number,
  floors: TaskFloors | null,
): Promise<readonly LostCall[]> {
  return await sql<LostCall[]>`
    select target_id, generation, call_number, attempt_number, cause
    from publish_tasks
    where status = 'calling'
    and wake_at between ${inWorkFloor(sql, floors)} and now()
    order by wake_at
    limit ${limit}`;
}
