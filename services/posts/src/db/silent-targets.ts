import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";
import type { LockedPost, PostRef } from "#src/db/posts.ts";
import { type TargetKey, toRecords } from "./targets.ts";

/**
 * Claims up to `limit` silent targets for the sweep. A target is silent if its outcome is open and the delivery service
 * has not reported about it for `silentMs`. Claiming a target restarts this period, so that other replicas claim other
 * targets. Targets that failed with an unknown outcome are included until a day after their deadline, because their
 * outcome may still become known.
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

/** A publishing target that the delivery service has been asked to publish, with the data of this publish request. */
export interface RequestedTargetRow extends PostRef, TargetKey {
  readonly accountId: string;
  readonly platform: string;
  readonly dueAt: Date;
  readonly publishBefore: Date;
  readonly version: number;
  /** The API request that created the target's post or was the last to change it. */
  readonly cause: Cause | null;
}

/**
 * Reads the given targets that still have to be published, and locks their posts in id order. A target that has a newer
 * generation, because its publishing was requested again, is left out.
 */
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

/** Locks the posts that the given publishing targets belong to, in id order. */
export async function lockPostsOfTargets(
  tx: TransactionSql,
  keys: readonly { readonly workspaceId: string; readonly targetId: string }[],
): Promise<readonly LockedPost[]> {
  const rows = keys.map((key) => ({ workspace_id: key.workspaceId, id: key.targetId }));
  return await tx<LockedPost[]>`
    select workspace_id, id as post_id, status
    from posts
    where (workspace_id, id) in (
      select targets.workspace_id, targets.post_id
      from jsonb_to_recordset(${tx.json(rows)}) as key (workspace_id uuid, id uuid)
      join targets on targets.workspace_id = key.workspace_id
        and targets.id = key.id
    )
    order by id
    for update`;
}

/** Identifies a request to delete what a publishing target has published on its platform. */
export interface DeletionKey {
  readonly workspaceId: string;
  readonly targetId: string;
  readonly deletion: number;
}

/**
 * Claims up to `limit` targets that are being deleted on their platforms and whose deletion the delivery service has
 * not reported about for `silentMs`. Claiming a target restarts this period, as in `takeSilentTargets`.
 */
export async function takeSilentDeletions(
  sql: ISql,
  options: { readonly silentMs: number; readonly limit: number },
): Promise<readonly DeletionKey[]> {
  return await sql<DeletionKey[]>`
    with silent as materialized (
      select id
      from targets
      where status = 'deleting'
      and last_news_at < now() - ${options.silentMs}::float8 * interval '1 millisecond'
      order by last_news_at
      limit ${options.limit}
      for update skip locked
    )
    update targets
    set last_news_at = now()
    from silent
    where targets.id = silent.id
    returning targets.workspace_id, targets.id as target_id, targets.deletion`;
}

/**
 * A published target that the delivery service has been asked to delete on its platform, with the data of this deletion
 * request.
 */
export interface RequestedDeletion extends PostRef, DeletionKey {
  readonly accountId: string;
  readonly platform: string;
  readonly externalId: string | null;
  readonly requestedAt: Date;
  readonly version: number;
}

/** Reads the given deletions of published targets that have not ended yet, and locks their posts in id order. */
export async function lockRequestedDeletions(
  tx: TransactionSql,
  keys: readonly DeletionKey[],
): Promise<readonly RequestedDeletion[]> {
  const rows = keys.map((key) => ({
    workspace_id: key.workspaceId,
    id: key.targetId,
    deletion: key.deletion,
  }));
  return await tx<RequestedDeletion[]>`
    select target.workspace_id, target.id as target_id, target.deletion, target.account_id, target.platform,
      target.external_id, target.deletion_requested_at as requested_at, post.id as post_id, post.version
    from targets as target
    join posts as post on post.id = target.post_id
      and post.workspace_id = target.workspace_id
    where (target.workspace_id, target.id, target.deletion) in (
      select workspace_id, id, deletion
      from jsonb_to_recordset(${tx.json(rows)}) as key (workspace_id uuid, id uuid, deletion int)
    )
    and target.status = 'deleting'
    and target.deletion_requested_at is not null
    order by post.id, target.ordinal
    for update of post`;
}
