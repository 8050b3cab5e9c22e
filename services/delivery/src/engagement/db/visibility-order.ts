import type { ISql } from "@postrider/shared/postgres";

/**
 * Action `t` hides or shows a comment and has to wait for an earlier one, of whichever workspace:
 * one that waits for its call, or one whose call may still arrive, whether it has ended or not. The
 * database's time of the requests counts, because ids come from the clocks of several processes.
 */
export function isBehindVisibility(sql: ISql, externalAccountId: ReturnType<ISql>) {
  const isEarlier = sql`
    e.comment_id = t.comment_id
    and e.type in ('hide', 'unhide')
    and (e.created_at, e.id) < (t.created_at, t.id)`;
  // Two searches, because each has an index without the many actions that have ended.
  return sql`
    (t.type in ('hide', 'unhide') and (
      exists (
        select 1
        from comment_actions e
        where e.account_id = t.account_id
        and e.status in ('queued', 'working')
        and ${isEarlier}
      )
      or exists (
        select 1
        from comment_actions e
        where e.platform = t.platform
        and e.call_until > now()
        and (e.account_id = t.account_id or e.external_account_id = ${externalAccountId})
        and ${isEarlier}
      )
    ))`;
}
