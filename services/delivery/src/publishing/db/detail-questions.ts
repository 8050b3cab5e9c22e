import type { Handles } from "@postrider/platforms/publishing/handles";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { TaskKey } from "#src/publishing/domain/held-task.ts";
import type { Task } from "#src/publishing/domain/task.ts";
import { toKeyRows } from "./task-keys.ts";

/** A publication whose id the platform had not given yet. */
export interface DetailQuestion extends TaskKey {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly handles: Handles;
  /** How often it was asked, this time included. */
  readonly askedCount: number;
  /** How long ago the target was recorded as published. */
  readonly ageMs: number;
  /** Headers of the event that asked for the publication. */
  readonly cause: Readonly<Record<string, string>> | null;
}

/** Notes that publications have no id yet; one that is noted stays as it is. */
export async function insertQuestions(
  tx: TransactionSql,
  questions: readonly { readonly task: Task; readonly handles: Handles }[],
): Promise<void> {
  const rows = questions.map(({ task, handles }) => ({
    target_id: task.targetId,
    generation: task.generation,
    workspace_id: task.workspaceId,
    account_id: task.accountId,
    platform: task.platform,
    handles,
  }));
  await tx`
    insert into detail_questions (target_id, generation, workspace_id, account_id, platform, handles)
    select target_id, generation, workspace_id, account_id, platform, handles
    from jsonb_to_recordset(${tx.json(rows)}) as k(
      target_id uuid, generation int, workspace_id uuid, account_id uuid, platform text, handles jsonb
    )
    on conflict (target_id, generation) do nothing`;
}

/**
 * Takes questions whose time has come, for `leaseMs`. Two processes seldom ask the same one at once, and it would do no
 * harm.
 */
export async function claimQuestions(
  sql: ISql,
  { limit, leaseMs }: { readonly limit: number; readonly leaseMs: number },
): Promise<readonly DetailQuestion[]> {
  return await sql<DetailQuestion[]>`
    with taken as (
      select target_id, generation
      from detail_questions
      where wake_at <= now()
      order by wake_at
      limit ${limit}
      for update skip locked
    )
    update detail_questions q
    set wake_at = now() + ${leaseMs} * interval '1 millisecond',
      asked_count = q.asked_count + 1
    from taken k
    where q.target_id = k.target_id
    and q.generation = k.generation
    returning q.target_id, q.generation, q.workspace_id, q.account_id, q.platform, q.handles, q.asked_count,
      extract(epoch from now() - q.created_at)::float8 * 1000 as age_ms, (
        select t.cause
        from publish_tasks t
        where t.target_id = q.target_id
        and t.generation = q.generation
      ) as cause`;
}

/** Asks again later. */
export async function postponeQuestion(
  sql: ISql,
  { targetId, generation }: TaskKey,
  delayMs: number,
): Promise<void> {
  await sql`
    update detail_questions
    set wake_at = now() + ${delayMs} * interval '1 millisecond'
    where target_id = ${targetId}
    and generation = ${generation}`;
}

/** Answered, or not asked any more. */
export async function deleteQuestions(sql: ISql, keys: readonly TaskKey[]): Promise<void> {
  await sql`
    delete from detail_questions q
    using jsonb_to_recordset(${sql.json(toKeyRows(keys))}) as k(target_id uuid, generation int)
    where q.target_id = k.target_id
    and q.generation = k.generation`;
}

/** Milliseconds until a question wants to be asked; 0 or less when one is waiting already. */
export async function findNextQuestionMs(sql: ISql): Promise<number | undefined> {
  const [row] = await sql<{ waitMs: number | null }[]>`
    select extract(epoch from min(wake_at) - now())::float8 * 1000 as wait_ms
    from detail_questions`;
  return row?.waitMs ?? undefined;
}
