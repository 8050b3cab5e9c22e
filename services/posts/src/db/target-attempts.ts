import type { TransactionSql } from "@postrider/shared/postgres";

/** One try to publish a target, as an update told it. */
export interface AttemptRow {
  readonly workspaceId: string;
  readonly targetId: string;
  readonly number: number;
  /** Of the update that told it. */
  readonly generation: number;
  readonly version: number;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly outcome: string;
  readonly code: string;
  readonly message: string;
}

/**
 * Inserts attempts, or replaces what an older update told of them; what is not newer changes nothing. An attempt may
 * occur only once in a call. Returns the ids of the targets with a change.
 */
export async function upsertAttempts(
  tx: TransactionSql,
  attempts: readonly AttemptRow[],
): Promise<ReadonlySet<string>> {
  if (attempts.length === 0) return new Set();
  const rows = attempts.map((attempt) => ({
    workspace_id: attempt.workspaceId,
    target_id: attempt.targetId,
    number: attempt.number,
    task_generation: attempt.generation,
    task_version: attempt.version,
    started_at: attempt.startedAt.toISOString(),
    finished_at: attempt.finishedAt?.toISOString() ?? null,
    outcome: attempt.outcome,
    code: attempt.code,
    message: attempt.message,
  }));
  const changed = await tx<{ targetId: string }[]>`
    insert into target_attempts (
      workspace_id, target_id, number, task_generation, task_version, started_at, finished_at, outcome, code, message
    )
    select workspace_id, target_id, number, task_generation, task_version, started_at, finished_at, outcome, code, message
    from jsonb_to_recordset(${tx.json(rows)}) as attempt (
      workspace_id uuid, target_id uuid, number int, task_generation int, task_version bigint, started_at timestamptz,
      finished_at timestamptz, outcome text, code text, message text
    )
    on conflict (target_id, number) do update
    set task_generation = excluded.task_generation,
      task_version = excluded.task_version,
      started_at = excluded.started_at,
      finished_at = excluded.finished_at,
      outcome = excluded.outcome,
      code = excluded.code,
      message = excluded.message
    where target_attempts.workspace_id = excluded.workspace_id
    and (excluded.task_generation, excluded.task_version)
      > (target_attempts.task_generation, target_attempts.task_version)
    returning target_id`;
  return new Set(changed.map((row) => row.targetId));
}
