import type { ISql } from "@postrider/shared/postgres";
import type { DoubtfulTable } from "#src/calls/doubt.ts";
import { isDisplacedOrDoubtful, type MarkedTable } from "#src/calls/marks.ts";
import { markedAssignments, markedTypes, toMarkedRow } from "#src/calls/table.ts";
import { isStopped } from "#src/db/stopped-workspaces.ts";
import type { Task, TaskKey } from "#src/publishing/domain/task.ts";
import { isDoubtful } from "./deployment.ts";
import { doubtfulTasks, searchFrom } from "./doubts.ts";
import { isPlatformHeld } from "./platform-breakers.ts";

/** Why a publishing call may not begin, beside the reasons that hold for all calls. */
export type TaskReason = "superfluous" | "platform_held";

/** Another generation has begun the attempt that the mark would begin; the next claim sees it. */
function isAttemptTaken(sql: ISql) {
  return sql`(not t.is_attempt_open and exists (
    select 1
    from publish_attempts a
    where a.target_id = t.target_id
    and a.number > t.attempt_number
  ))`;
}

/**
 * Another generation of the target of task `t` has one of the statuses. An aggregate over the
 * generations of the target: for an `exists`, Postgres would read all open tasks, which its
 * statistics, mostly of quiet times, take for few.
 */
export function hasSibling(sql: ISql, statuses: readonly string[]) {
  return sql`coalesce((
    select bool_or(s.status in ${sql(statuses)})
    from publish_tasks s
    where s.target_id = t.target_id
    and s.generation <> t.generation
  ), false)`;
}

/** The call of `o`, one of `ours`, would violate a unique index of open calls. */
function wouldViolate(sql: ISql) {
  return sql`(exists (
      select 1
      from publish_tasks c
      where c.account_id = o.account_id
      and (c.status = 'calling' or c.content_hash = o.call_key and c.status in ('unknown', 'reconciling'))
    )
    or exists (
      select 1
      from publish_tasks c
      where c.platform = o.platform
      and c.external_account_id = o.external_account_id
      and c.content_hash = o.call_key
      and c.status in ('calling', 'unknown', 'reconciling')
    ))`;
}

/**
 * Of `ours`: `allowed` contains all tasks of platforms that are not held and of accounts on servers
 * of their owners, and one task of each held platform that is due for a probe.
 */
function leaveOutHeldPlatforms(sql: ISql) {
  return sql`
    candidates as (
      select distinct on (o.platform) o.platform, o.target_id, o.generation, o.call_ms
      from ours o
      -- A task whose call would violate a unique index is not chosen as probe: this statement would hold the platform's row while it waits
      -- for a transaction that records an outcome, and that transaction may wait for the row.
      -- Postgres looks for it only then, because a case is evaluated in order.
      where not o.is_foreign
      and case when o.platform in (select platform from platform_breakers where probe_at <= now())
        then not ${wouldViolate(sql)}
      end
      -- By chance, so that the posts of one workspace are not all the probes.
      order by o.platform, random()
    ),
    -- Of several statements that find a held platform ready for its next probe, the row lock lets one send the probe. The
    -- rows are locked in the order of the platforms, so that two transactions cannot deadlock.
    ready as materialized (
      select b.platform
      from platform_breakers b
      where b.platform in (select platform from candidates)
      and b.probe_at <= now()
      order by b.platform
      for update
    ),
    probes as (
      update platform_breakers b
      set probe_at = now() + interval '1 second' + interval '1 millisecond' * c.call_ms
      from candidates c
      join ready r on r.platform = c.platform
      where b.platform = c.platform
      returning c.target_id, c.generation
    ),
    allowed as (
      select t.target_id, t.generation, t.call_key, t.external_account_id, t.call_ms, t.handles
      from ours t
      where t.is_foreign
      or not ${isPlatformHeld(sql)}
      or (t.target_id, t.generation) in (select target_id, generation from probes)
    )`;
}

export const TASK_TABLE: MarkedTable<TaskKey, Task, TaskReason> & DoubtfulTable = {
  rows: (sql) => sql`publish_tasks`,
  key: (sql) => sql`t.target_id, t.generation`,
  keyTypes: (sql) => sql`target_id uuid, generation int`,
  toKey: ({ targetId, generation }) => ({ target_id: targetId, generation }),
  isSame: (sql) => sql`t.target_id = k.target_id and t.generation = k.generation`,
  touch: (sql) => sql`, updated_at = now()`,
  lost: (sql) => sql`, t.attempt_number`,
  obstacles: (sql) => [
    { reason: "superfluous", when: hasSibling(sql, ["published"]) },
    { reason: "stopped", when: isDisplacedOrDoubtful(sql, isDoubtful(sql)) },
    { reason: "stopped", when: isStopped(sql, sql`t.workspace_id`) },
    { reason: "missed", when: sql`t.publish_before <= now()` },
    {
      reason: "platform_held",
      when: sql`${isPlatformHeld(sql)} and not k.is_foreign`,
      isOnlyExplained: true,
    },
    { reason: "busy", when: hasSibling(sql, ["calling", "unknown", "reconciling"]) },
    { reason: "busy", when: isAttemptTaken(sql) },
  ],
  allowed: leaveOutHeldPlatforms,
  mark: (sql) => sql`content_hash = k.call_key,`,
  begin: (sql) => sql`
    attempt_number = t.attempt_number + case when t.is_attempt_open then 0 else 1 end,
    is_attempt_open = true,
    handles = coalesce(k.handles, t.handles),`,
  noted: (sql) => sql`
    insert into publish_attempts as a (
      target_id, number, generation, workspace_id, account_id, fence, call_number, started_at, called_at, call_until
    )
    select m.target_id, m.attempt_number, m.generation, o.workspace_id, o.account_id, m.fence, m.call_number,
      o.updated_at, m.called_at, m.call_until
    from marked m
    -- The task as the mark found it, last updated by its claim.
    join publish_tasks o on o.target_id = m.target_id and o.generation = m.generation
    on conflict (target_id, number) do update
    set call_number = excluded.call_number,
      fence = excluded.fence,
      called_at = excluded.called_at,
      call_until = excluded.call_until,
      is_not_sent = false
    returning target_id, generation`,
  doubtful: doubtfulTasks,
  searchFrom,
  unindex: (sql) => sql`content_hash = null`,
  doubt: "the data was restored from a backup; the target may have been published before",
  toRow: (task) => ({
    ...toMarkedRow(task),
    attempt_number: task.attemptNumber,
    is_attempt_open: task.isAttemptOpen,
    permalink: task.permalink,
    published_at: task.status === "published" ? (task.finishedAt?.toISOString() ?? null) : null,
  }),
  assignments: (sql) => sql`
    ${markedAssignments(sql)},
    attempt_number = k.attempt_number,
    is_attempt_open = k.is_attempt_open,
    permalink = k.permalink,
    published_at = k.published_at,
    -- A failed task whose publishing call has an unknown outcome keeps its handles, because a late answer can continue it,
    -- and so does a published live check: its post is searched for before it is deleted.
    handles = case
      when k.status in ('published', 'failed', 'dropped')
        and k.open_unknowns = 0
        and not (k.status = 'published' and t.target_id = t.post_id)
        then null
      else t.handles
    end`,
  types: (sql) => sql`
    ${markedTypes(sql)}, attempt_number int, is_attempt_open boolean, permalink text, published_at timestamptz`,
};
