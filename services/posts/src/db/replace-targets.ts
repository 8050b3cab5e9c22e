import type { TransactionSql } from "@postrider/shared/postgres";
import type { PostRef } from "#src/db/posts.ts";
import { toTargetRecords } from "#src/db/target-records.ts";
import type { Due, PlannedTarget } from "#src/domain/plan-post.ts";

/**
 * Replaces the targets of a locked post with the given targets, in the given order. A target whose id exists keeps its
 * row. Ordinals (the positions of targets in the post) are negated first, because a unique index forbids two targets of
 * a post with the same ordinal.
 */
export async function replaceTargets(
  tx: TransactionSql,
  { workspaceId, postId }: PostRef,
  { targets, due }: { readonly targets: readonly PlannedTarget[]; readonly due: Due | null },
): Promise<void> {
  await tx`
    delete from targets
    where workspace_id = ${workspaceId}
    and post_id = ${postId}
    and id <> all (${`{${targets.map(({ id }) => id).join(",")}}`}::uuid[])`;
  await tx`
    update targets
    set ordinal = -1 - ordinal
    where workspace_id = ${workspaceId}
    and post_id = ${postId}`;
  await tx`
    insert into targets (
      id, workspace_id, post_id, ordinal, account_id, platform, username, generation, due_at, publish_before, due_day,
      content_hash, settings, last_news_at, updated_at
    )
    select
      id, ${workspaceId}::uuid, ${postId}::uuid, ordinal, account_id, platform, username, 1,
      ${due?.dueAt ?? null}::timestamptz, ${due?.publishBefore ?? null}::timestamptz, due_day,
      decode(content_hash, 'hex'), settings, coalesce(${due?.dueAt ?? null}::timestamptz, now()), now()
    from jsonb_to_recordset(${tx.json(toTargetRecords(targets))}) as target (
      id uuid, ordinal int, account_id uuid, platform text, username text, due_day text, content_hash text, settings jsonb
    )
    on conflict (id) do update
    set ordinal = excluded.ordinal,
      username = excluded.username,
      due_at = excluded.due_at,
      publish_before = excluded.publish_before,
      due_day = excluded.due_day,
      content_hash = excluded.content_hash,
      settings = excluded.settings,
      last_news_at = excluded.last_news_at,
      updated_at = excluded.updated_at`;
}
