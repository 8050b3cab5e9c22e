import type { ISql } from "@postrider/shared/postgres";
import type { HeldKey, TaskKey } from "#src/publishing/domain/held-task.ts";
import type { Attempt } from "#src/publishing/domain/task.ts";
import { attemptColumns } from "./task-columns.ts";
import { nameTask, toHeldRows } from "./task-keys.ts";

/**
 * Begins an attempt for each task that has none open, numbered on over the target's generations. Tasks that somebody else
 * has by now are left out.
 *
 * @returns The number of the open attempt by the task's name.
 */
export async function openAttempts(
  sql: ISql,
  held: readonly HeldKey[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<(TaskKey & { number: number })[]>`
    with ours as (
      select t.target_id, t.generation, t.workspace_id, t.account_id, t.fence, t.attempt_number, t.is_attempt_open
      from jsonb_to_recordset(${sql.json(toHeldRows(held))})
        as k(target_id uuid, generation int, fence bigint)
      join publish_tasks t
        on t.target_id = k.target_id and t.generation = k.generation and t.fence = k.fence
      where t.status = 'working'
    ),
    opened as (
      insert into publish_attempts (target_id, number, generation, workspace_id, account_id, fence)
      select o.target_id,
        coalesce((select max(a.number) from publish_attempts a where a.target_id = o.target_id), 0) + 1,
        o.generation, o.workspace_id, o.account_id, o.fence
      from ours o
      where not o.is_attempt_open
      returning target_id, generation, number
    ),
    noted as (
      update publish_tasks t
      set attempt_number = o.number,
        is_attempt_open = true,
        updated_at = now()
      from opened o
      where t.target_id = o.target_id
      and t.generation = o.generation
      returning t.target_id, t.generation, t.attempt_number as number
    )
    select target_id, generation, number
    from noted
    union all
    select target_id, generation, attempt_number
    from ours
    where is_attempt_open`;
  return new Map(rows.map((row) => [nameTask(row), row.number]));
}

/** Which of these ids of the platform a target of the account owns already, deleted ones too. */
export async function findOwnedIds(
  sql: ISql,
  accountId: string,
  externalIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (externalIds.length === 0) return new Set();
  const rows = await sql<{ externalId: string }[]>`
    select external_id
    from publish_attempts
    where account_id = ${accountId}
    and external_id in ${sql(externalIds)}
    union
    select external_id
    from publish_tasks
    where account_id = ${accountId}
    and external_id in ${sql(externalIds)}`;
  return new Set(rows.map((row) => row.externalId));
}

/** The latest attempt of each target that has an outcome. */
export async function listLatestAttempts(
  sql: ISql,
  targetIds: readonly string[],
): Promise<ReadonlyMap<string, Attempt>> {
  if (targetIds.length === 0) return new Map();
  const rows = await sql<Attempt[]>`
    select distinct on (a.target_id) ${attemptColumns(sql)}
    from publish_attempts a
    where a.target_id in ${sql(targetIds)}
    and a.finished_at is not null
    order by a.target_id, a.number desc`;
  return new Map(rows.map((row) => [row.targetId, row]));
}
