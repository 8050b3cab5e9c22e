import type { ISql } from "@postrider/shared/postgres";
import type { Attempt } from "#src/calls/call.ts";
import { isOfExternalAccount } from "#src/db/external-accounts.ts";
import type { AttemptKey, Task } from "#src/publishing/domain/task.ts";

/** Several workspaces can share the account of the platform. */
export interface ExternalAccount {
  readonly platform: string;
  readonly accountId: string;
  readonly externalAccountId: string;
}

function attemptColumns(sql: ISql) {
  return sql`
    a.target_id, a.number, a.call_number, a.fence, a.started_at, a.finished_at, a.outcome, a.code, a.message,
    a.external_id, a.permalink, a.is_not_sent`;
}

/**
 * Returns those of the given post ids of a platform that belong to a target on the same account of
 * the platform, of whichever workspace, deleted targets included: the platforms that are
 * searched give no id twice.
 */
export async function findOwnedIds(
  sql: ISql,
  { platform, accountId, externalAccountId }: ExternalAccount,
  externalIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (externalIds.length === 0) return new Set();
  const isOfAccount = sql`
    t.platform = ${platform}
    and ${isOfExternalAccount(sql, { accountId, externalAccountId })}`;
  const rows = await sql<{ externalId: string }[]>`
    select a.external_id
    from publish_attempts a
    join publish_tasks t on t.target_id = a.target_id and t.generation = a.generation
      -- An export may have named the targets of others.
      and t.workspace_id = a.workspace_id
    where a.external_id in ${sql(externalIds)}
    and ${isOfAccount}
    union
    select t.external_id
    from publish_tasks t
    where t.external_id in ${sql(externalIds)}
    and ${isOfAccount}`;
  return new Set(rows.map((row) => row.externalId));
}

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

/** The newest success of each published target that has another post id than the target itself. */
export async function listSecondPosts(
  sql: ISql,
  workspaceId: string,
  targetIds: readonly string[],
): Promise<readonly Pick<Attempt, "targetId" | "permalink">[]> {
  if (targetIds.length === 0) return [];
  return await sql<Pick<Attempt, "targetId" | "permalink">[]>`
    select distinct on (a.target_id) a.target_id, a.permalink
    from publish_tasks t
    join publish_attempts a on a.target_id = t.target_id
    where t.target_id in ${sql(targetIds)}
    and t.workspace_id = ${workspaceId}
    and t.status = 'published'
    and a.outcome = 'published'
    and a.external_id <> t.external_id
    order by a.target_id, a.number desc`;
}

export async function listAttempts(
  sql: ISql,
  keys: readonly AttemptKey[],
): Promise<readonly Attempt[]> {
  const rows = keys.map((key) => ({ target_id: key.targetId, number: key.number }));
  return await sql<Attempt[]>`
    select ${attemptColumns(sql)}
    from jsonb_to_recordset(${sql.json(rows)}) as k(target_id uuid, number int)
    join publish_attempts a on a.target_id = k.target_id and a.number = k.number`;
}

/** How a publishing attempt ended, or what is known about an attempt that has not ended. */
export type AttemptResult = Omit<Attempt, "callNumber" | "fence" | "startedAt">;

function toResultRow(attempt: AttemptResult) {
  return {
    target_id: attempt.targetId,
    number: attempt.number,
    outcome: attempt.outcome,
    code: attempt.code,
    message: attempt.message,
    external_id: attempt.externalId,
    permalink: attempt.permalink,
    is_not_sent: attempt.isNotSent,
    finished_at: attempt.finishedAt?.toISOString() ?? null,
  };
}

/** Attempts that ended before a mark; a mark inserts the others. */
export async function insertAttempts(
  sql: ISql,
  attempts: readonly { readonly task: Task; readonly attempt: Attempt }[],
): Promise<void> {
  const rows = attempts.map(({ task, attempt }) => ({
    ...toResultRow(attempt),
    generation: task.generation,
    workspace_id: task.workspaceId,
    account_id: task.accountId,
    fence: attempt.fence,
    started_at: attempt.startedAt.toISOString(),
  }));
  await sql`
    insert into publish_attempts (
      target_id, number, generation, workspace_id, account_id, fence, started_at, finished_at, outcome, code, message,
      is_not_sent
    )
    select target_id, number, generation, workspace_id, account_id, fence, started_at, finished_at, outcome, code,
      message, is_not_sent
    from jsonb_to_recordset(${sql.json(rows)}) as k(
      target_id uuid, number int, generation int, workspace_id uuid, account_id uuid, fence bigint,
      started_at timestamptz, finished_at timestamptz, outcome text, code text, message text, is_not_sent boolean
    )
    -- An older generation that was reported as failed may have begun the same number meanwhile.
    on conflict (target_id, number) do nothing`;
}

/** Only a success overwrites a success; a missing post id never overwrites a known one. */
export async function updateAttempts(sql: ISql, attempts: readonly AttemptResult[]): Promise<void> {
  await sql`
    update publish_attempts a
    set outcome = k.outcome,
      code = k.code,
      message = k.message,
      external_id = coalesce(k.external_id, a.external_id),
      permalink = coalesce(k.permalink, a.permalink),
      is_not_sent = k.is_not_sent,
      finished_at = coalesce(k.finished_at, a.finished_at)
    from jsonb_to_recordset(${sql.json(attempts.map(toResultRow))}) as k(
      target_id uuid, number int, outcome text, code text, message text, external_id text,
      permalink text, is_not_sent boolean, finished_at timestamptz
    )
    where a.target_id = k.target_id
    and a.number = k.number
    and (a.outcome is distinct from 'published' or k.outcome = 'published')`;
}
