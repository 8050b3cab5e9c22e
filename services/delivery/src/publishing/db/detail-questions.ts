import type { Handles } from "@postrider/platforms/publishing/handles";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { isOfExternalAccount } from "#src/db/external-accounts.ts";
import type { Task, TaskKey } from "#src/publishing/domain/task.ts";
import type { ExternalAccount } from "./attempts.ts";
import { findNextWake, isAboveFloor, type NextWake } from "./claim-limits.ts";
import { toKeyRows } from "./tasks.ts";

export interface DetailQuestion extends TaskKey {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly handles: Handles;
  /** Number of times that the platform was asked for the post id, the current request included. */
  readonly askedCount: number;
  readonly ageMs: number;
  readonly cause: Readonly<Record<string, string>> | null;
}

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

/** Limits the duration of a claim. */
const MAX_DUE = 10_000;

/**
 * The workspaces take turns on each platform. Two processes may rarely claim the same target, which
 * is harmless: requests only read.
 */
export async function claimQuestions(
  sql: ISql,
  options: {
    readonly limit: number;
    readonly leaseMs: number;
    /** The claim reads no entries below this search floor. */
    readonly since: Date;
    /** Platforms that this process is asking. */
    readonly except?: readonly string[];
  },
): Promise<readonly DetailQuestion[]> {
  const { limit, leaseMs, since, except = [] } = options;
  return await sql<DetailQuestion[]>`
    with due as (
      select target_id, generation, wake_at,
        row_number() over (partition by platform, workspace_id order by wake_at) as turn
      from (
        select target_id, generation, platform, workspace_id, wake_at
        from detail_questions
        where wake_at <= now()
        and ${isAboveFloor(sql, since)}
        and platform <> all(${except as string[]}::text[])
        order by wake_at
        limit ${MAX_DUE}
      ) as d
    ),
    taken as (
      select q.target_id, q.generation
      from due
      join detail_questions q on q.target_id = due.target_id and q.generation = due.generation and q.wake_at = due.wake_at
      order by due.turn, due.wake_at
      limit ${limit}
      for update of q skip locked
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
        and t.workspace_id = q.workspace_id
      ) as cause`;
}

/** Changes nothing if another process has claimed the question: each claim raises the count. */
export async function postponeQuestion(
  sql: ISql,
  { targetId, generation, askedCount }: DetailQuestion,
  delayMs: number,
  handles: Handles = {},
): Promise<void> {
  await sql`
    update detail_questions
    set wake_at = now() + ${delayMs} * interval '1 millisecond',
      handles = handles || ${sql.json(handles)}
    where target_id = ${targetId}
    and generation = ${generation}
    and asked_count = ${askedCount}`;
}

export async function deleteQuestions(sql: ISql, keys: readonly TaskKey[]): Promise<void> {
  await sql`
    delete from detail_questions q
    using jsonb_to_recordset(${sql.json(toKeyRows(keys))}) as k(target_id uuid, generation int)
    where q.target_id = k.target_id
    and q.generation = k.generation`;
}

/** Whether a target on the account waits for its post id, of whichever workspace. */
export async function hasPostWithoutId(
  sql: ISql,
  { platform, ...account }: ExternalAccount,
): Promise<boolean> {
  const rows = await sql`
    select 1
    from detail_questions q
    join publish_tasks t on t.target_id = q.target_id and t.generation = q.generation
      and t.workspace_id = q.workspace_id
    where q.platform = ${platform}
    and t.platform = ${platform}
    and t.external_id is null
    and ${isOfExternalAccount(sql, account)}
    limit 1`;
  return rows.length > 0;
}

export async function findNextQuestion(sql: ISql, since: Date | null): Promise<NextWake> {
  return await findNextWake(sql, sql`detail_questions where true`, since);
}

/** SQL: whether a question may be ready now. */
export function isQuestionDue(sql: ISql, since: Date | null) {
  return sql`
    exists (
      select from detail_questions
      where wake_at <= now()
      and ${isAboveFloor(sql, since)}
    )`;
}
