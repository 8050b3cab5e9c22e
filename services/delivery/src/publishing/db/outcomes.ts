import type { TransactionSql } from "@postrider/shared/postgres";
import type { AttemptResult } from "#src/publishing/domain/decision.ts";
import type { Attempt, Task } from "#src/publishing/domain/task.ts";
import { attemptColumns, taskColumns } from "./task-columns.ts";
import { toKeyRows } from "./task-keys.ts";

/** Which attempt of which target. */
export interface AttemptKey {
  readonly targetId: string;
  readonly number: number;
}

/** All that decisions about some targets need, as it is under the lock. */
export interface LockedTargets {
  readonly tasks: readonly Task[];
  readonly attempts: readonly Attempt[];
  /** The database's time after the locks were had. */
  readonly now: Date;
}

function toAttemptRows(keys: readonly AttemptKey[]) {
  return keys.map((key) => ({ target_id: key.targetId, number: key.number }));
}

/** Locks all generations of the targets: whoever decides about one of them sees what became of the others. */
export async function lockTargets(
  tx: TransactionSql,
  keys: readonly AttemptKey[],
): Promise<LockedTargets> {
  const targetIds = [...new Set(keys.map((key) => key.targetId))];
  // In the order of the key, so that two recorders cannot wait for each other.
  const [tasks, attempts, clock] = await Promise.all([
    tx<Task[]>`
      select ${taskColumns(tx)}
      from publish_tasks t
      where t.target_id in ${tx(targetIds)}
      order by t.target_id, t.generation
      for update`,
    tx<Attempt[]>`
      select ${attemptColumns(tx)}
      from jsonb_to_recordset(${tx.json(toAttemptRows(keys))}) as k(target_id uuid, number int)
      join publish_attempts a on a.target_id = k.target_id and a.number = k.number`,
    tx<{ now: Date }[]>`select clock_timestamp() as now`,
  ]);
  return { tasks, attempts, now: clock[0]?.now ?? new Date() };
}

function toTaskRow(task: Task) {
  return {
    target_id: task.targetId,
    generation: task.generation,
    status: task.status,
    wake_at: task.wakeAt.toISOString(),
    is_attempt_open: task.isAttemptOpen,
    retry_count: task.retryCount,
    unknown_count: task.unknownCount,
    open_unknowns: task.openUnknowns,
    resend_count: task.resendCount,
    looks: task.looks,
    is_limited: task.isLimited,
    is_restored: task.isRestored,
    first_unknown_at: task.firstUnknownAt?.toISOString() ?? null,
    version: task.version,
    external_id: task.externalId,
    permalink: task.permalink,
    published_at: task.publishedAt?.toISOString() ?? null,
    error_code: task.errorCode,
    error_message: task.errorMessage,
  };
}

/** Writes what was decided about locked tasks. */
export async function updateTasks(tx: TransactionSql, tasks: readonly Task[]): Promise<void> {
  await tx`
    update publish_tasks t
    set status = k.status,
      wake_at = k.wake_at,
      is_attempt_open = k.is_attempt_open,
      retry_count = k.retry_count,
      unknown_count = k.unknown_count,
      open_unknowns = k.open_unknowns,
      resend_count = k.resend_count,
      looks = k.looks,
      is_limited = k.is_limited,
      is_restored = k.is_restored,
      first_unknown_at = k.first_unknown_at,
      version = k.version,
      external_id = k.external_id,
      permalink = k.permalink,
      published_at = k.published_at,
      error_code = k.error_code,
      error_message = k.error_message,
      updated_at = now()
    from jsonb_to_recordset(${tx.json(tasks.map(toTaskRow))}) as k(
      target_id uuid, generation int, status text, wake_at timestamptz, is_attempt_open boolean,
      retry_count int, unknown_count int, open_unknowns int, resend_count int, looks int,
      is_limited boolean, is_restored boolean, first_unknown_at timestamptz, version bigint,
      external_id text, permalink text, published_at timestamptz, error_code text, error_message text
    )
    where t.target_id = k.target_id
    and t.generation = k.generation`;
}

/** What one attempt came to. */
export interface AttemptFact extends AttemptKey {
  readonly result: AttemptResult;
}

function toFactRow({ targetId, number, result }: AttemptFact) {
  return {
    target_id: targetId,
    number,
    outcome: result.outcome,
    code: result.code,
    message: result.message,
    external_id: result.externalId,
    permalink: result.permalink,
    is_not_sent: result.isNotSent,
  };
}

/**
 * Writes facts, known at `now`. A success is never overwritten by anything but another success, and an id never by its absence.
 */
export async function updateAttempts(
  tx: TransactionSql,
  facts: readonly AttemptFact[],
  now: Date,
): Promise<void> {
  await tx`
    update publish_attempts a
    set outcome = k.outcome,
      code = k.code,
      message = k.message,
      external_id = coalesce(k.external_id, a.external_id),
      permalink = coalesce(k.permalink, a.permalink),
      is_not_sent = k.is_not_sent,
      finished_at = case when k.outcome is null then a.finished_at else ${now} end
    from jsonb_to_recordset(${tx.json(facts.map(toFactRow))}) as k(
      target_id uuid, number int, outcome text, code text, message text, external_id text,
      permalink text, is_not_sent boolean
    )
    where a.target_id = k.target_id
    and a.number = k.number
    and (a.outcome is distinct from 'published' or k.outcome = 'published')`;
}

/** Forgets what the steps of ended tasks had made. */
export async function deleteHandles(tx: TransactionSql, tasks: readonly Task[]): Promise<void> {
  await tx`
    delete from task_handles h
    using jsonb_to_recordset(${tx.json(toKeyRows(tasks))}) as k(target_id uuid, generation int)
    where h.target_id = k.target_id
    and h.generation = k.generation`;
}
