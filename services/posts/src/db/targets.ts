import type { JsonValue } from "@bufbuild/protobuf";
import type { TransactionSql } from "@postrider/shared/postgres";
import type { PostRef } from "#src/db/posts.ts";
import type { TargetState } from "#src/domain/target.ts";

export interface TargetRow extends TargetState {
  readonly id: string;
  readonly workspaceId: string;
  readonly postId: string;
  readonly accountId: string;
  readonly platform: string;
  /** The UTC day on which the target uses quota; null if it uses none. */
  readonly dueDay: string | null;
  /** Hash that the duplicate guard compares, in hex; null for a draft. */
  readonly contentHash: string | null;
  readonly ordinal: number;
  readonly username: string;
  /** Time at which the target is to be published; null for a draft. */
  readonly dueAt: Date | null;
  readonly publishBefore: Date | null;
  /** How often the deletion of the target on its platform was requested. */
  readonly deletion: number;
  readonly deletionVersion: number;
}

type LockedRow = Omit<TargetRow, "error"> & {
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly errorRetryable: boolean | null;
};

function toTarget({ errorCode, errorMessage, errorRetryable, ...row }: LockedRow): TargetRow {
  if (errorCode === null) return { ...row, error: null };
  const error = {
    code: errorCode,
    message: errorMessage ?? "",
    retryable: errorRetryable ?? false,
  };
  return { ...row, error };
}

export async function lockTargetsOf(
  tx: TransactionSql,
  posts: readonly PostRef[],
): Promise<readonly TargetRow[]> {
  const keys = posts.map((post) => ({ workspace_id: post.workspaceId, post_id: post.postId }));
  const rows = await tx<LockedRow[]>`
    select id, workspace_id, post_id, status, generation, task_generation, task_version, external_id, permalink,
      published_at, error_code, error_message, error_retryable, attempt_count, next_attempt_at, account_id, platform,
      due_day, encode(content_hash, 'hex') as content_hash, ordinal, username, due_at, publish_before, deletion,
      deletion_version
    from targets
    where (workspace_id, post_id) in (
      select workspace_id, post_id
      from jsonb_to_recordset(${tx.json(keys)}) as key (workspace_id uuid, post_id uuid)
    )
    order by id
    for update`;
  return rows.map(toTarget);
}

function toUpdate(target: TargetRow) {
  return {
    id: target.id,
    workspace_id: target.workspaceId,
    status: target.status,
    task_generation: target.taskGeneration,
    task_version: target.taskVersion,
    external_id: target.externalId,
    permalink: target.permalink,
    published_at: target.publishedAt?.toISOString() ?? null,
    error: target.error === null ? null : { ...target.error },
    attempt_count: target.attemptCount,
    next_attempt_at: target.nextAttemptAt?.toISOString() ?? null,
    generation: target.generation,
    due_at: target.dueAt?.toISOString() ?? null,
    publish_before: target.publishBefore?.toISOString() ?? null,
    due_day: target.dueDay,
    content_hash: target.contentHash,
    deletion: target.deletion,
    deletion_version: target.deletionVersion,
  };
}

export async function updateTargets(
  tx: TransactionSql,
  targets: readonly TargetRow[],
): Promise<void> {
  if (targets.length === 0) return;
  const rows = targets.map(toUpdate);
  await tx`
    update targets as target
    set status = change.status,
      generation = change.generation,
      due_at = change.due_at,
      publish_before = change.publish_before,
      due_day = change.due_day,
      content_hash = decode(change.content_hash, 'hex'),
      deletion = change.deletion,
      deletion_version = change.deletion_version,
      deletion_requested_at = case
        when change.deletion > target.deletion then now()
        else target.deletion_requested_at
      end,
      task_generation = change.task_generation,
      task_version = change.task_version,
      external_id = change.external_id,
      permalink = change.permalink,
      published_at = change.published_at,
      error_code = change.error ->> 'code',
      error_message = change.error ->> 'message',
      error_retryable = (change.error ->> 'retryable')::boolean,
      attempt_count = change.attempt_count,
      next_attempt_at = change.next_attempt_at,
      last_report_at = greatest(now(), change.due_at),
      updated_at = now()
    from jsonb_to_recordset(${tx.json(rows)}) as change (
      id uuid, workspace_id uuid, status text, task_generation int, task_version bigint, external_id text,
      permalink text, published_at timestamptz, error jsonb, attempt_count int, next_attempt_at timestamptz,
      generation int, due_at timestamptz, publish_before timestamptz, due_day text, content_hash text,
      deletion int, deletion_version bigint
    )
    where target.workspace_id = change.workspace_id
    and target.id = change.id`;
}

export interface AttemptRow {
  readonly workspaceId: string;
  readonly targetId: string;
  readonly number: number;
  /** The generation of the target in the update that reported the attempt. */
  readonly generation: number;
  readonly version: number;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly outcome: string;
  readonly code: string;
  readonly message: string;
}

/**
 * Replaces a stored attempt only by a newer report. Each attempt may occur once in a call. Returns
 * the targets with a new or changed attempt.
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

export interface TargetKey {
  readonly workspaceId: string;
  readonly targetId: string;
  readonly generation: number;
}

export function toRecords(keys: readonly TargetKey[]) {
  return keys.map((key) => ({
    workspace_id: key.workspaceId,
    id: key.targetId,
    generation: key.generation,
  }));
}

export interface MetricsReport extends PostRef {
  readonly targetId: string;
  readonly metrics: JsonValue;
  readonly refreshedAt: Date;
}

/**
 * Returns the posts whose stored metrics were older. A report whose workspace, post and target do
 * not belong together changes nothing. Each target may occur once in a call.
 */
export async function updateTargetMetrics(
  tx: TransactionSql,
  reports: readonly MetricsReport[],
): Promise<readonly PostRef[]> {
  const rows = reports.map((report) => ({
    id: report.targetId,
    workspace_id: report.workspaceId,
    post_id: report.postId,
    metrics: report.metrics,
    refreshed_at: report.refreshedAt.toISOString(),
  }));
  const changed = await tx<{ workspaceId: string; postId: string }[]>`
    update targets as target
    set metrics = report.metrics,
      metrics_refreshed_at = report.refreshed_at
    from jsonb_to_recordset(${tx.json(rows)})
      as report (id uuid, workspace_id uuid, post_id uuid, metrics jsonb, refreshed_at timestamptz)
    where target.id = report.id
    and target.workspace_id = report.workspace_id
    and target.post_id = report.post_id
    and (target.metrics_refreshed_at is null or target.metrics_refreshed_at < report.refreshed_at)
    returning target.workspace_id, target.post_id`;
  return [...new Map(changed.map((post) => [post.postId, post])).values()];
}
