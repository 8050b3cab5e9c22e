import { REPEATS_MINUTES } from "@postrider/shared/deployment/ownership";
import type { ISql, SqlFragment, TransactionSql } from "@postrider/shared/postgres";
import type { CommentAction } from "#src/engagement/domain/comment-action.ts";
import { actionColumns } from "./comment-actions.ts";

/** How far back is searched if the age of the backup is not known. */
const UNKNOWN_AGE_HOURS = 24;
const BATCH = 500;
export const DOUBT =
  "the data was restored from a backup; the action may have been carried out before that";

/**
 * A restore, here or of the installation that the action was imported from, made it uncertain
 * whether action `t` was carried out, and no search has followed; `deployment` is `d`. Hiding and
 * showing is uncertain only if it was requested before, because the restore may have lost a later
 * request with the opposite effect; repeating a newer one is harmless.
 */
export function isDoubtful(sql: ISql) {
  return sql`
    (d.restored_at is not null
      and case
        when t.type in ('hide', 'unhide') then t.created_at < d.restored_at
        else t.created_at < d.restored_at + ${REPEATS_MINUTES} * interval '1 minute'
          and (t.doubted_at is null or t.doubted_at < d.restored_at)
      end
      or t.is_doubtful)`;
}

/**
 * The open calls, at most two, that a search could not tell apart from that of action `t`: what the
 * unique indexes of open calls say. A refused mark notes the account of the platform.
 */
export function openCall(sql: ISql) {
  return sql`
    from comment_actions e
    where (e.account_id = t.account_id
      or (e.platform = t.platform and e.external_account_id = t.external_account_id))
    and e.comment_id = t.comment_id
    and e.call_key = t.call_key
    and e.id <> t.id
    and e.status in ('calling', 'unknown', 'reconciling')`;
}

/** Of several actions whose calls cannot be told apart, one; the next waits until it has ended. */
export function doubtfulActions(sql: ISql, isDue: SqlFragment, limit: number) {
  return sql`
    select distinct on (t.account_id, t.comment_id, t.call_key) t.id
    from comment_actions t
    cross join deployment d
    where t.status in ('queued', 'working', 'unknown', 'reconciling')
    and t.wake_at <= now()
    and t.type in ('reply', 'private_reply')
    and ${isDoubtful(sql)}
    and not exists (select 1 ${openCall(sql)})
    and ${isDue}
    order by t.account_id, t.comment_id, t.call_key, t.id
    limit ${limit}`;
}

export function searchFrom(sql: ISql) {
  return sql`
    least(t.first_unknown_at, case
      when t.is_doubtful then t.created_at - ${UNKNOWN_AGE_HOURS} * interval '1 hour'
      when t.created_at < d.restored_at and t.open_unknowns = 0 and d.data_until is not null
        then greatest(t.created_at, d.data_until)
      when t.created_at < d.restored_at then t.created_at
      else coalesce(d.data_until, d.restored_at - ${UNKNOWN_AGE_HOURS} * interval '1 hour')
    end)`;
}

/**
 * Those that were requested before a restore, which may have lost a later request for the same
 * comment: a repeated call would undo it.
 */
export async function endOldVisibility(tx: TransactionSql): Promise<readonly CommentAction[]> {
  return await tx<CommentAction[]>`
    with old as materialized (
      select t.id
      from comment_actions t
      cross join deployment d
      where t.type in ('hide', 'unhide')
      and t.status in ('queued', 'working')
      and t.created_at < d.restored_at
      -- Postgres evaluates this once, before it reads an action.
      and (select r.restored_at is not null from deployment r)
      order by t.id
      limit ${BATCH}
      for update of t skip locked
    )
    update comment_actions t
    set status = 'failed',
      error_code = 'outcome_unknown',
      error_message = ${DOUBT},
      finished_at = now(),
      fence = t.fence + 1,
      lease_owner = null,
      version = t.version + 1
    from old
    where t.id = old.id
    returning ${actionColumns(tx)}`;
}
