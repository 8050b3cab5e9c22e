import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { PostRef } from "#src/db/posts.ts";

/** A request to delete a target on its platform. */
export interface DeletionKey {
  readonly workspaceId: string;
  readonly targetId: string;
  readonly deletion: number;
}

/** Takes up to `limit` targets that are being deleted and of which nothing was heard for `silentMs`; as for open ones. */
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

/** A target whose deletion was requested, and with what. */
export interface RequestedDeletion extends PostRef, DeletionKey {
  readonly accountId: string;
  readonly platform: string;
  readonly externalId: string | null;
  readonly requestedAt: Date;
  readonly version: number;
}

/** Those of the deletions that are still under way; locks their posts in id order. */
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
