import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";
import type { PostRef } from "#src/db/posts.ts";
import type { HoldingTarget } from "#src/domain/target-holding.ts";
import type { TargetState } from "#src/domain/target.ts";

/** A target at a generation. */
export interface TargetKey {
  readonly workspaceId: string;
  readonly targetId: string;
  readonly generation: number;
}

export interface TargetRow extends TargetState {
  readonly id: string;
  readonly workspaceId: string;
  readonly postId: string;
  readonly accountId: string;
  readonly platform: string;
  /** The UTC day, and by it the month, whose quota it counts in; null while it counts in none. */
  readonly dueDay: string | null;
  /** What the duplicate guard compares, in hex; null while the post is a draft. */
  readonly contentHash: string | null;
  readonly ordinal: number;
  readonly username: string;
  /** What the current generation is, or will be, requested with; null for a draft. */
  readonly dueAt: Date | null;
  readonly publishBefore: Date | null;
  /** Raised by each request to delete it; 0 before the first. */
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

/** Locks all targets of posts, in id order; the posts are locked already. */
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

/** Writes all that can change of locked targets. Nothing is expected of one before it is due. */
export async function updateTargets(
  tx: TransactionSql,
  targets: readonly TargetRow[],
): Promise<void> {
  if (targets.length === 0) return;
  const rows = targets.map(toUpdate);
  await tx`
    update targets as target
    set status = news.status,
      generation = news.generation,
      due_at = news.due_at,
      publish_before = news.publish_before,
      due_day = news.due_day,
      content_hash = decode(news.content_hash, 'hex'),
      deletion = news.deletion,
      deletion_version = news.deletion_version,
      deletion_requested_at = case
        when news.deletion > target.deletion then now()
        else target.deletion_requested_at
      end,
      task_generation = news.task_generation,
      task_version = news.task_version,
      external_id = news.external_id,
      permalink = news.permalink,
      published_at = news.published_at,
      error_code = news.error ->> 'code',
      error_message = news.error ->> 'message',
      error_retryable = (news.error ->> 'retryable')::boolean,
      attempt_count = news.attempt_count,
      next_attempt_at = news.next_attempt_at,
      last_news_at = greatest(now(), news.due_at),
      updated_at = now()
    from jsonb_to_recordset(${tx.json(rows)}) as news (
      id uuid, workspace_id uuid, status text, task_generation int, task_version bigint, external_id text,
      permalink text, published_at timestamptz, error jsonb, attempt_count int, next_attempt_at timestamptz,
      generation int, due_at timestamptz, publish_before timestamptz, due_day text, content_hash text,
      deletion int, deletion_version bigint
    )
    where target.workspace_id = news.workspace_id
    and target.id = news.id`;
}

/** Keys as `jsonb_to_recordset(…) as key (workspace_id uuid, id uuid, generation int)` reads them. */
export function toRecords(keys: readonly TargetKey[]) {
  return keys.map((key) => ({
    workspace_id: key.workspaceId,
    id: key.targetId,
    generation: key.generation,
  }));
}

/**
 * Takes up to `limit` targets whose outcome is open and of which nothing was heard for `silentMs`. Taking one counts as
 * asking about it: other replicas take others, and a crash before the answer only delays the next question. A failure
 * with an unknown outcome may still be put right for a day after the last moment at which it could have been sent.
 */
export async function takeSilentTargets(
  sql: ISql,
  options: { readonly silentMs: number; readonly limit: number },
): Promise<readonly TargetKey[]> {
  return await sql<TargetKey[]>`
    with silent as materialized (
      select id
      from targets
      where publish_before is not null
      and (status in ('pending', 'publishing') or (status = 'failed' and error_code = 'outcome_unknown'))
      and last_news_at < now() - ${options.silentMs}::float8 * interval '1 millisecond'
      and (status <> 'failed' or publish_before > now() - interval '1 day')
      order by last_news_at
      limit ${options.limit}
      for update skip locked
    )
    update targets
    set last_news_at = now()
    from silent
    where targets.id = silent.id
    returning targets.workspace_id, targets.id as target_id, targets.generation`;
}

/** A target whose publishing was requested, and with what. */
export interface RequestedTargetRow extends PostRef, TargetKey {
  readonly accountId: string;
  readonly platform: string;
  readonly dueAt: Date;
  readonly publishBefore: Date;
  readonly version: number;
  /** The request that placed the post last. */
  readonly cause: Cause | null;
}

/** Those of the targets that are still to be published at just that generation; locks their posts in id order. */
export async function lockRequestedTargets(
  tx: TransactionSql,
  keys: readonly TargetKey[],
): Promise<readonly RequestedTargetRow[]> {
  return await tx<RequestedTargetRow[]>`
    select target.workspace_id, target.id as target_id, target.generation, target.account_id, target.platform,
      target.due_at, target.publish_before, post.id as post_id, post.version, post.cause
    from targets as target
    join posts as post on post.id = target.post_id
      and post.workspace_id = target.workspace_id
    where (target.workspace_id, target.id, target.generation) in (
      select workspace_id, id, generation
      from jsonb_to_recordset(${tx.json(toRecords(keys))}) as key (workspace_id uuid, id uuid, generation int)
    )
    and target.status in ('pending', 'publishing')
    and target.publish_before is not null
    and post.status = 'publishing'
    order by post.id, target.ordinal
    for update of post`;
}

/** How many targets of a workspace count in the same way. */
export interface CountedTargets extends HoldingTarget {
  readonly count: number;
}

/** The targets of a workspace that quota counts, those that differ in nothing that matters to it taken together. */
export async function listCountedTargets(
  sql: ISql,
  workspaceId: string,
): Promise<readonly CountedTargets[]> {
  return await sql<CountedTargets[]>`
    select
      min(id::text) as id, workspace_id, account_id, platform, status, due_day, null as published_at, null as content_hash,
      case when error_code = 'outcome_unknown' then json_build_object('code', error_code) end as error, count(*)
    from targets
    where workspace_id = ${workspaceId}
    and due_day is not null
    group by workspace_id, account_id, platform, status, due_day, error_code`;
}
