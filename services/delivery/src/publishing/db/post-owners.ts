import type { ISql } from "@postrider/shared/postgres";
import type { DeletionTask } from "#src/publishing/domain/deletion.ts";

/**
 * Returns whether another target, of whichever workspace, published this post before on the same
 * account of the platform, and the post is not deleted. Its deletion is then refused.
 */
export async function isOfOtherTarget(
  sql: ISql,
  { targetId, externalId, platform }: DeletionTask,
): Promise<boolean> {
  const owners = await sql`
    select 1
    from publish_tasks t
    join publish_tasks o on o.external_id = t.external_id and o.platform = t.platform
    where t.target_id = ${targetId}
    and t.status = 'published'
    and t.external_id = ${externalId}
    and t.platform = ${platform}
    and o.target_id <> t.target_id
    and o.status = 'published'
    and (o.account_id = t.account_id or o.external_account_id = t.external_account_id)
    -- Telegram counts messages anew when a group becomes a supergroup: the same id in another chat is another post.
    and (o.platform <> 'telegram' or o.permalink is null or t.permalink is null or o.permalink = t.permalink)
    and (o.published_at, o.target_id) < (t.published_at, t.target_id)
    and not exists (
      select 1
      from deletion_tasks d
      where d.target_id = o.target_id
      and d.status = 'deleted'
    )
    limit 1`;
  return owners.length > 0;
}
