import type { ISql } from "@postrider/shared/postgres";
import type { ClaimedTask } from "#src/publishing/domain/task.ts";
import { CLAIM_WINDOW, findNextWakeMs, fullPlatforms, type ClaimLimits } from "./claim-limits.ts";
import { isDoubtful } from "./deployment.ts";
import { heldPlatforms } from "./platform-brakes.ts";
import { taskColumns } from "./tasks.ts";

export interface ClaimOptions extends ClaimLimits {
  /** Platforms for which this version of the delivery service has a connector. */
  readonly platforms: readonly string[];
  /** Number of crashes in a row of its process after which a task is a suspect, which may be the cause of the crashes. */
  readonly suspectAfter: number;
  /** Maximum number of suspects that are claimed. */
  readonly maxSuspects: number;
  /** Whether tasks are claimed whose lease ended while they were in work. */
  readonly mayTakeOver: boolean;
  /** Maximum number of publish tasks that one workspace has in work on one platform at a time, over all processes. */
  readonly maxPerWorkspace: number;
}

/**
 * Number of times in a row that the process of task `t` crashed. The process of a task whose lease ended while the task was in
 * work has probably crashed.
 */
function crashes(sql: ISql) {
  return sql`
    t.crash_count + case
      when t.status = 'reconciling' or t.status = 'working' and t.is_attempt_open then 1
      else 0
    end`;
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
    select t.target_id, t.generation, t.account_id, t.workspace_id, t.platform, t.wake_at,
      ${crashes(sql)} >= ${options.suspectAfter} as is_suspect
    from publish_tasks t
    cross join deployment d
    where t.status in ('queued', 'working', 'unknown', 'reconciling')
    and t.wake_at <= now()
    and not ${isDoubtful(sql)}
    and (${options.maxSuspects > 0} or ${crashes(sql)} < ${options.suspectAfter})
    and (${options.mayTakeOver} or t.status in ('queued', 'unknown'))
    and t.account_id not in (select account_id from live)
    and t.platform not in (select platform from full_platforms)
    and (t.platform, t.workspace_id) not in (select platform, workspace_id from full_workspaces)
    and (t.status in ('unknown', 'reconciling') or (
      (t.platform in ${sql(options.platforms)} or t.publish_before <= now())
      and t.account_id not in (select account_id from account_gates where not_before > now())
      and t.account_id::text not in (select key from pauses where kind = 'account')
      and t.workspace_id::text not in (select key from pauses where kind = 'workspace')
      and t.platform not in (select key from pauses where kind = 'platform')
      and (t.publish_before <= now() or t.platform not in (${heldPlatforms(sql)}))
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
  const { limit, maxPerPlatform, maxPerWorkspace, maxSuspects } = options;
  return sql`
    select r.target_id, r.generation, r.of_workspace
    from (
      select target_id, generation, workspace_id, platform, wake_at, is_suspect,
        row_number() over (partition by platform order by wake_at) as of_platform,
        row_number() over (partition by platform, workspace_id order by wake_at) as of_workspace,
        row_number() over (partition by is_suspect order by wake_at) as of_suspects
      from (
        select distinct on (account_id) target_id, generation, workspace_id, platform, wake_at, is_suspect
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
    and (not r.is_suspect or r.of_suspects <= ${maxSuspects})
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
      crash_count = ${crashes(sql)},
      fence = t.fence + 1,
      lease_owner = ${owner},
      updated_at = now()
    from taken k
    where t.target_id = k.target_id
    and t.generation = k.generation
    returning ${claimedColumns(sql)}`;
}

/** Milliseconds until the next publish task is ready; 0 or less if a task is ready now, undefined if there is no task. */
export async function findNextTaskMs(sql: ISql): Promise<number | undefined> {
  return await findNextWakeMs(
    sql,
    sql`publish_tasks where status in ('queued', 'working', 'calling', 'unknown', 'reconciling')`,
  );
}
