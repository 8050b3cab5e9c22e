import type { ISql } from "@postrider/shared/postgres";
import type { DoubtfulTable } from "#src/calls/doubt.ts";
import { isHeldBack, type MarkedTable } from "#src/calls/marks.ts";
import { markedAssignments, markedTypes, toMarkedRow } from "#src/calls/table.ts";
import type { Task, TaskKey } from "#src/publishing/domain/task.ts";
import { isDoubtful } from "./deployment.ts";
import { doubtfulTasks, searchFrom } from "./doubts.ts";
import { isPlatformHeld } from "./platform-breakers.ts";

/** Why a publishing call may not begin, beside the reasons that hold for all calls. */
export type TaskReason = "superfluous" | "platform_held";

/** Another generation of the target of task `t` has one of the statuses. */
function hasSibling(sql: ISql, statuses: readonly string[]) {
  return sql`exists (
    select 1
    from publish_tasks s
    where s.target_id = t.target_id
    and s.generation <> t.generation
    and s.status in ${sql(statuses)}
  )`;
}

/**
 * Of `ours`: `allowed` contains all tasks of platforms that are not held and of accounts on servers
 * of their owners, and one task of each held platform that is due for a probe.
 */
function leaveOutHeld(sql: ISql) {
  return sql`
    candidates as (
      select distinct on (o.platform) o.platform, o.target_id, o.generation, o.call_ms
      from ours o
      -- A task whose call would violate a unique index is not chosen as probe: this statement would hold the platform's row while it waits
      -- for a transaction that records an outcome, and that transaction may wait for the row.
      where not o.is_foreign
      and not exists (
        select 1
        from publish_tasks c
        where c.account_id = o.account_id
        and (c.status = 'calling' or c.content_hash = o.call_key and c.status in ('unknown', 'reconciling'))
      )
      and not exists (
        select 1
        from publish_tasks c
        where c.platform = o.platform
        and c.external_account_id = o.external_account_id
        and c.content_hash = o.call_key
        and c.status in ('calling', 'unknown', 'reconciling')
      )
      order by o.platform, o.target_id, o.generation
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
      select t.target_id, t.generation, t.call_key, t.external_account_id, t.call_ms
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
    { reason: "held", when: isHeldBack(sql, isDoubtful(sql)) },
    { reason: "missed", when: sql`t.publish_before <= now()` },
    {
      reason: "platform_held",
      when: sql`${isPlatformHeld(sql)} and not k.is_foreign`,
      isOnlyExplained: true,
    },
    { reason: "busy", when: hasSibling(sql, ["calling", "unknown", "reconciling"]) },
  ],
  allowed: leaveOutHeld,
  mark: (sql) => sql`content_hash = k.call_key,`,
  noted: (sql) => sql`
    update publish_attempts a
    set call_number = m.call_number,
      fence = m.fence,
      called_at = m.called_at,
      call_until = m.call_until,
      is_not_sent = false
    from marked m
    where a.target_id = m.target_id
    and a.number = m.attempt_number
    returning m.target_id, m.generation`,
  doubtful: doubtfulTasks,
  searchFrom,
  unindex: (sql) => sql`content_hash = null`,
  doubt: "the data was restored from a backup; the target may have been published before",
  toRow: (task) => ({
    ...toMarkedRow(task),
    is_attempt_open: task.isAttemptOpen,
    permalink: task.permalink,
    published_at: task.status === "published" ? (task.finishedAt?.toISOString() ?? null) : null,
  }),
  assignments: (sql) => sql`
    ${markedAssignments(sql)},
    is_attempt_open = k.is_attempt_open,
    permalink = k.permalink,
    published_at = k.published_at`,
  types: (sql) => sql`
    ${markedTypes(sql)}, is_attempt_open boolean, permalink text, published_at timestamptz`,
};
