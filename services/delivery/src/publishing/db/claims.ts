import type { ISql } from "@postrider/shared/postgres";
import type { ClaimedTask, HeldKey, TaskKey } from "#src/publishing/domain/task.ts";
import { CLAIM_WINDOW, findNextWakeMs, fullPlatforms, type ClaimLimits } from "./claim-limits.ts";
import { isDoubtful } from "./deployment.ts";
import { taskColumns, toHeldRows } from "./tasks.ts";

export interface ClaimOptions extends ClaimLimits {
  /** Platforms for which this version of the delivery service has a connector. */
  readonly platforms: readonly string[];
  /** `true` claims only tasks whose previous worker crashed; `false` claims only the other tasks. */
  readonly hasCrashed: boolean;
  /** Maximum number of publish tasks that one workspace has in work on one platform at a time, over all processes. */
  readonly maxPerWorkspace: number;
}

/** Selects the workspaces that have reached their maximum number of tasks in work on a platform. */
function fullWorkspaces(sql: ISql, { maxPerWorkspace }: ClaimOptions) {
  return sql`
    select platform, workspace_id
    from live
    group by platform, workspace_id
    having count(*) >= ${maxPerWorkspace}`;
}

/**
 * Selects the ready publish tasks of accounts that have no task in work, oldest first. Tasks that are held back or that a
 * restore made uncertain are left out. This query also leaves out platforms and workspaces at their maximum number of tasks in
 * work. Otherwise the backlog of a platform that does not respond would fill the window of the query and hide the tasks of the
 * other platforms.
 */
function readyTasks(sql: ISql, options: ClaimOptions) {
  return sql`
    select t.target_id, t.generation, t.account_id, t.workspace_id, t.platform, t.wake_at
    from publish_tasks t
    cross join deployment d
    where t.status in ('queued', 'working', 'unknown', 'reconciling')
    and t.wake_at <= now()
    and not ${isDoubtful(sql)}
    and (t.crash_count > 0) = ${options.hasCrashed}
    and t.account_id not in (select account_id from live)
    and t.platform not in (select platform from full_platforms)
    and (t.platform, t.workspace_id) not in (select platform, workspace_id from full_workspaces)
    and (t.status in ('unknown', 'reconciling') or (
      (t.platform in ${sql(options.platforms)} or t.publish_before <= now())
      and t.account_id not in (select account_id from account_gates where not_before > now())
      and t.account_id::text not in (select key from pauses where kind = 'account')
      and t.workspace_id::text not in (select key from pauses where kind = 'workspace')
      and t.platform not in (select key from pauses where kind = 'platform')
      -- Another generation of the target that may be visible has to end first.
      and (t.status = 'working' or t.target_id not in (
        select target_id
        from publish_tasks
        where status in ('working', 'calling', 'unknown', 'reconciling')
      ))
    ))
    order by t.wake_at
    limit ${CLAIM_WINDOW}`;
}

/**
 * Selects one ready publish task per account, from the workspaces in turn, within the maximum number of tasks in work of each
 * platform and workspace. The query returns more tasks than a claim may take, because other processes may have locked the
 * first of them.
 */
function firstOfEachAccount(sql: ISql, options: ClaimOptions) {
  const { limit, maxPerPlatform, maxPerWorkspace } = options;
  return sql`
    select r.target_id, r.generation, r.of_workspace
    from (
      select target_id, generation, workspace_id, platform, wake_at,
        row_number() over (partition by platform order by wake_at) as of_platform,
        row_number() over (partition by platform, workspace_id order by wake_at) as of_workspace
      from (
        select distinct on (account_id) target_id, generation, workspace_id, platform, wake_at
        from candidates
        order by account_id, wake_at
      ) as firsts
    ) as r
    left join (
      select platform, count(*) as live
      from live
      group by platform
    ) as p on p.platform = r.platform
    left join (
      select platform, workspace_id, count(*) as live
      from live
      group by platform, workspace_id
    ) as w on w.platform = r.platform and w.workspace_id = r.workspace_id
    where r.of_platform + coalesce(p.live, 0) <= ${maxPerPlatform}
    and r.of_workspace + coalesce(w.live, 0) <= ${maxPerWorkspace}
    order by r.of_workspace, r.wake_at
    limit ${limit * 4}`;
}

/** The columns of a `ClaimedTask`, for a query in which the claimed tasks have the alias `k`. */
function claimedColumns(sql: ISql) {
  return sql`
    ${taskColumns(sql)},
    t.cause,
    now() as claimed_at,
    t.publish_before <= now() as is_too_late,
    extract(epoch from now() - k.wake_at)::float8 * 1000 as lateness_ms,
    (
      select h.handles
      from task_handles h
      where h.target_id = t.target_id
      and h.generation = t.generation
    ) as handles`;
}

/**
 * Claims ready publish tasks: at most one per account, from the workspaces in turn. The claim only makes it rare that two
 * workers work for one account. The unique indexes of `publish_tasks` make it impossible to publish a target twice.
 */
export async function claimTasks(
  sql: ISql,
  options: ClaimOptions,
): Promise<readonly ClaimedTask[]> {
  const { owner, leaseMs, limit } = options;
  return await sql<ClaimedTask[]>`
    with live as materialized (
      select account_id, workspace_id, platform
      from publish_tasks
      where status in ('working', 'calling', 'reconciling')
      and wake_at > now()
    ),
    full_platforms as materialized (${fullPlatforms(sql, options)}),
    full_workspaces as materialized (${fullWorkspaces(sql, options)}),
    candidates as (${readyTasks(sql, options)}),
    chosen as (${firstOfEachAccount(sql, options)}),
    -- The first process that locks a task claims it. The conditions are repeated because Postgres checks them again under
    -- the lock.
    taken as (
      select t.target_id, t.generation, t.wake_at
      from chosen c
      join publish_tasks t on t.target_id = c.target_id and t.generation = c.generation
      where t.status in ('queued', 'working', 'unknown', 'reconciling')
      and t.wake_at <= now()
      order by c.of_workspace, t.wake_at
      limit ${limit}
      for update of t skip locked
    )
    update publish_tasks t
    set status = case when t.status in ('unknown', 'reconciling') then 'reconciling' else 'working' end,
      wake_at = now() + ${leaseMs} * interval '1 millisecond',
      -- A task whose lease ended while it was in work has probably crashed its process.
      crash_count = t.crash_count + case
        when t.status = 'reconciling' or t.status = 'working' and t.is_attempt_open then 1
        else 0
      end,
      fence = t.fence + 1,
      lease_owner = ${owner},
      updated_at = now()
    from taken k
    where t.target_id = k.target_id
    and t.generation = k.generation
    returning ${claimedColumns(sql)}`;
}

/**
 * Renews the leases of publish tasks. A task in its publishing call needs no lease, because no process acts on the task before
 * `call_until`.
 *
 * @returns The tasks that this process still holds.
 */
export async function renewLeases(
  sql: ISql,
  held: readonly HeldKey[],
  leaseMs: number,
): Promise<readonly TaskKey[]> {
  return await sql<TaskKey[]>`
    with asked as (
      select target_id, generation, fence
      from jsonb_to_recordset(${sql.json(toHeldRows(held))})
        as k(target_id uuid, generation int, fence bigint)
    ),
    renewed as (
      update publish_tasks t
      set wake_at = now() + ${leaseMs} * interval '1 millisecond'
      from asked k
      where t.target_id = k.target_id
      and t.generation = k.generation
      and t.fence = k.fence
      and t.status in ('working', 'reconciling')
      returning t.target_id, t.generation
    )
    select target_id, generation
    from renewed
    union
    select t.target_id, t.generation
    from publish_tasks t
    join asked k on k.target_id = t.target_id and k.generation = t.generation and k.fence = t.fence
    where t.status = 'calling'`;
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
    update publish_tasks t
    set status = case when t.status = 'reconciling' then 'unknown' else 'queued' end,
      wake_at = now() + ${delayMs} * interval '1 millisecond',
      lease_owner = null,
      version = t.version + 1,
      updated_at = now()
    from jsonb_to_recordset(${sql.json(toHeldRows(held))})
      as k(target_id uuid, generation int, fence bigint)
    where t.target_id = k.target_id
    and t.generation = k.generation
    and t.fence = k.fence
    and t.status in ('working', 'reconciling')`;
}

/** Milliseconds until the next publish task is ready; 0 or less if a task is ready now, undefined if there is no task. */
export async function findNextTaskMs(sql: ISql): Promise<number | undefined> {
  return await findNextWakeMs(
    sql,
    sql`publish_tasks where status in ('queued', 'working', 'calling', 'unknown', 'reconciling')`,
  );
}

/** A publishing call whose `call_until` has passed and whose outcome no worker has recorded. */
export interface LostCall extends TaskKey {
  readonly callNumber: number;
  readonly attemptNumber: number;
  readonly cause: ClaimedTask["cause"];
}

export async function listLostCalls(sql: ISql, limit: number): Promise<readonly LostCall[]> {
  return await sql<LostCall[]>`
    select target_id, generation, call_number, attempt_number, cause
    from publish_tasks
    where status = 'calling'
    and wake_at <= now()
    order by wake_at
    limit ${limit}`;
}
