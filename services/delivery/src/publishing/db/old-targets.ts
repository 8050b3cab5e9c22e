import { firstIdAt } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";

export interface OldTarget {
  readonly targetId: string;
  readonly workspaceId: string;
  readonly postId: string;
}

/** Lists the targets with a task, in the order of their creation, that were created before. */
export async function listOldTargets(
  sql: Sql,
  { createdBefore, after, limit }: { createdBefore: Date; after: string; limit: number },
): Promise<readonly OldTarget[]> {
  return await sql<OldTarget[]>`
    select distinct on (target_id) target_id, workspace_id, post_id
    from publish_tasks
    where target_id > ${after}
    and target_id < ${firstIdAt(createdBefore)}
    order by target_id
    limit ${limit}`;
}

interface NewestRange {
  readonly createdAfter: Date;
  readonly createdBefore: Date;
  readonly limit: number;
}

/**
 * Of posts, but not of live checks. Those that were requested last come first. An imported target
 * may have an id from the future.
 */
export async function listNewestPublished(
  sql: Sql,
  { createdAfter, createdBefore, limit }: NewestRange,
): Promise<readonly OldTarget[]> {
  return await sql<OldTarget[]>`
    select target_id, workspace_id, post_id
    from publish_tasks
    where status = 'published'
    and target_id > ${firstIdAt(createdAfter)}
    and target_id < ${firstIdAt(createdBefore)}
    and target_id <> post_id
    order by target_id desc
    limit ${limit}`;
}

/**
 * Removes everything that is stored about targets whose calls ended before the given time. A target
 * with a call or a deletion that has not ended stays. Returns the number of removed targets.
 */
export async function removeTargets(
  sql: Sql,
  targetIds: readonly string[],
  endedBefore: Date,
): Promise<number> {
  const ids = targetIds as string[];
  const [row] = await sql<{ count: number }[]>`
    with gone as materialized (
      select target_id
      from publish_tasks
      where target_id = any(${ids}::uuid[])
      and not exists (
        select 1
        from deletion_tasks
        where deletion_tasks.target_id = publish_tasks.target_id
        and deletion_tasks.status in ('queued', 'working')
      )
      group by target_id
      having bool_and(status in ('published', 'failed', 'dropped') and updated_at < ${endedBefore})
    ),
    attempts as (delete from publish_attempts using gone where publish_attempts.target_id = gone.target_id),
    questions as (delete from detail_questions using gone where detail_questions.target_id = gone.target_id),
    deletions as (delete from deletion_tasks using gone where deletion_tasks.target_id = gone.target_id),
    history as (
      delete from target_metric_history using gone where target_metric_history.target_id = gone.target_id
    ),
    metrics as (delete from target_metrics using gone where target_metrics.target_id = gone.target_id),
    tasks as (delete from publish_tasks using gone where publish_tasks.target_id = gone.target_id)
    select count(*)::int as count
    from gone`;
  return row?.count ?? 0;
}
