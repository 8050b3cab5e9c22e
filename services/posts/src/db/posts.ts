import type { JsonValue } from "@bufbuild/protobuf";
import type { ISql, Sql, TransactionSql } from "@postrider/shared/postgres";
import { readInTurn } from "@postrider/shared/postgres/begin-in-turn";
import type { PostStatus, TargetStatus } from "#src/domain/post-status.ts";
import type { PostOptions } from "#src/domain/post.ts";

/** Instants in JSON columns are ISO 8601 text. */
export interface PostRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly status: PostStatus;
  readonly content: string;
  readonly options: PostOptions;
  readonly mediaIds: readonly string[];
  readonly media: readonly JsonValue[];
  readonly scheduledAt: Date | null;
  readonly startedAt: Date | null;
  readonly publishedAt: Date | null;
  readonly createdVia: string;
  readonly queueSlotRuleId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
  readonly effectiveAt: Date;
  readonly targets: readonly TargetJson[];
}

export interface TargetJson {
  readonly id: string;
  readonly accountId: string;
  readonly platform: string;
  readonly username: string;
  readonly status: TargetStatus;
  readonly externalId: string | null;
  readonly permalink: string | null;
  readonly publishedAt: string | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly errorRetryable: boolean | null;
  readonly attemptCount: number;
  readonly nextAttemptAt: string | null;
  /** Proto JSON of TargetMetrics; null until the delivery service reported metrics. */
  readonly metrics: JsonValue | null;
  /** The newest 50 publishing attempts. */
  readonly attempts: readonly AttemptJson[];
}

export interface AttemptJson {
  readonly number: number;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly outcome: string;
  readonly code: string;
  readonly message: string;
}

export function postColumns(sql: ISql) {
  return sql`
    post.id, post.workspace_id, post.status, post.content, post.options, to_json(post.media_ids) as media_ids, post.media,
    post.scheduled_at, post.started_at, post.published_at, post.created_via, post.queue_slot_rule_id, post.created_at,
    post.updated_at, post.version, post.effective_at, (
      select json_agg(target order by target.ordinal)
      from (
        select ordinal, id, account_id as "accountId", platform, username, status, external_id as "externalId", permalink,
          published_at as "publishedAt", error_code as "errorCode", error_message as "errorMessage",
          error_retryable as "errorRetryable", attempt_count as "attemptCount", next_attempt_at as "nextAttemptAt",
          metrics, (
            select coalesce(json_agg(attempt order by attempt.number), '[]')
            from (
              select number, started_at as "startedAt", finished_at as "finishedAt", outcome, code, message
              from target_attempts
              where target_attempts.workspace_id = targets.workspace_id
              and target_attempts.target_id = targets.id
              order by number desc
              limit 50
            ) as attempt
          ) as attempts
        from targets
        where targets.workspace_id = post.workspace_id
        and targets.post_id = post.id
      ) as target
    ) as targets`;
}

/** The ids with their positions in the list, counted from 0. */
function refRows(sql: ISql, refs: readonly PostRef[]) {
  return sql`
    select workspace_id, id, position::int - 1 as position
    from unnest(
      ${refs.map(({ workspaceId }) => workspaceId)}::uuid[],
      ${refs.map(({ postId }) => postId)}::uuid[]
    ) with ordinality as ref (workspace_id, id, position)`;
}

/** Posts that do not exist are missing in the result. */
export async function listPostsByRefs(
  sql: ISql,
  refs: readonly PostRef[],
): Promise<readonly PostRow[]> {
  return await sql<PostRow[]>`
    select ${postColumns(sql)}
    from (${refRows(sql, refs)}) as ref
    join posts as post on post.workspace_id = ref.workspace_id and post.id = ref.id`;
}

export async function findPost(
  sql: ISql,
  workspaceId: string,
  id: string,
): Promise<PostRow | undefined> {
  const [row] = await listPostsByRefs(sql, [{ workspaceId, postId: id }]);
  return row;
}

/** Of a workspace one at a time: a large post takes long to read. */
export async function findPostInTurn(
  sql: Sql,
  workspaceId: string,
  id: string,
): Promise<PostRow | undefined> {
  return await readInTurn(sql, workspaceId, () => findPost(sql, workspaceId, id));
}

export interface PostRef {
  readonly workspaceId: string;
  readonly postId: string;
}

export interface LockedPost extends PostRef {
  readonly status: PostStatus;
}

/** Every transaction that locks several posts does so in id order, which prevents deadlocks. */
export async function lockPosts(
  tx: TransactionSql,
  refs: readonly PostRef[],
): Promise<readonly LockedPost[]> {
  const keys = refs.map((ref) => ({ workspace_id: ref.workspaceId, id: ref.postId }));
  return await tx<LockedPost[]>`
    select post.workspace_id, post.id as post_id, post.status
    from posts as post
    where (post.workspace_id, post.id) in (
      select workspace_id, id from jsonb_to_recordset(${tx.json(keys)}) as key (workspace_id uuid, id uuid)
    )
    order by post.id
    for update of post`;
}

export interface PostChange extends PostRef {
  readonly status: PostStatus;
  readonly publishedAt: Date | null;
}

export interface ChangedPost extends PostRef {
  readonly status: PostStatus;
  readonly version: number;
  readonly updatedAt: Date;
}

export async function updatePosts(
  tx: TransactionSql,
  changes: readonly PostChange[],
): Promise<readonly ChangedPost[]> {
  if (changes.length === 0) return [];
  const rows = changes.map((change) => ({
    id: change.postId,
    workspace_id: change.workspaceId,
    status: change.status,
    published_at: change.publishedAt?.toISOString() ?? null,
  }));
  return await tx<ChangedPost[]>`
    update posts as post
    set status = change.status,
      published_at = change.published_at,
      version = post.version + 1,
      updated_at = greatest(post.updated_at, now())
    from jsonb_to_recordset(${tx.json(rows)})
      as change (id uuid, workspace_id uuid, status text, published_at timestamptz)
    where post.workspace_id = change.workspace_id
    and post.id = change.id
    returning post.id as post_id, post.workspace_id, post.status, post.version, post.updated_at`;
}

/** Data that the API shows with these posts has changed in another table. */
export async function raiseVersions(tx: TransactionSql, posts: readonly PostRef[]): Promise<void> {
  if (posts.length === 0) return;
  await tx`
    update posts as post
    set version = post.version + 1,
      updated_at = greatest(post.updated_at, now())
    from (${refRows(tx, posts)}) as ref
    where post.workspace_id = ref.workspace_id
    and post.id = ref.id`;
}
