import type { ISql, SqlFragment } from "@postrider/shared/postgres";
import { placesOfWorkspace } from "#src/calls/table.ts";
import { isBehindVisibility } from "./hidden-comments.ts";
import { recheckAt } from "./queue-schedule.ts";
import { isDoubtful, openCall } from "./restore-doubts.ts";

/** Number of ready actions that a claim reads for each place of an account. */
const READ_PER_PLACE = 8;
/** A call whose outcome is unknown can end before its next search, by a late answer. */
const MAX_REST_MINUTES = 5;

/**
 * Until when action `t` may not be called, because of another action on its comment; null if it
 * may. A call whose outcome is unknown stays open at least until it is searched for.
 */
function blockedUntil(sql: ISql) {
  return sql`
    coalesce(
      (
        select max(greatest(${recheckAt(sql)}, case
            when e.status = 'unknown' then least(e.wake_at, now() + ${MAX_REST_MINUTES} * interval '1 minute')
          end))
        ${openCall(sql)}
      ),
      case when ${isBehindVisibility(sql, sql`t.external_account_id`)} then ${recheckAt(sql)} end
    )`;
}

/** Of the account of slot `s`, those that have waited longest. */
function oldestReady(sql: ISql, which: SqlFragment) {
  return sql`
    select t.id, t.status, t.wake_at, t.type = 'private_reply' as is_automatic,
      case when of.calls then ${blockedUntil(sql)} end as blocked_until
    from comment_actions t
    cross join deployment d
    where t.account_id = s.account_id
    and t.status = of.status
    and t.status in ('queued', 'working', 'unknown', 'reconciling')
    and ${which}
    and t.wake_at <= now()
    and not ${isDoubtful(sql)}
    order by t.wake_at
    limit s.free * of.read_per_place`;
}

/**
 * The ready actions that have waited longest, of all and of those that people requested, with
 * blocked ones among them. Their number is limited, because any number of actions can be blocked by
 * one. A paused account needs only searches, not calls.
 */
export function firstReady(sql: ISql) {
  return sql`
    select s.account_id, s.workspace_id, s.platform, s.free, s.in_work, f.id, f.status, f.wake_at, f.is_automatic, f.blocked_until
    from slots s
    cross join (values ('unknown', 1, false), ('reconciling', 1, false), ('queued', ${READ_PER_PLACE}::int, true), ('working', ${READ_PER_PLACE}, true))
      as of(status, read_per_place, calls)
    cross join lateral (
      (${oldestReady(sql, sql`true`)})
      union
      (${oldestReady(sql, sql`t.type <> 'private_reply'`)})
    ) as f
    where s.may_call or not of.calls`;
}

/**
 * Of `ready`, as many as the places of their accounts and workspaces allow. What a person requested
 * does not wait behind private replies, of which a popular post can have more than a day's calls.
 */
export function unblocked(sql: ISql, maxPerPlatform: number) {
  return sql`
    select id, status, wake_at
    from (
      select id, status, wake_at,
        in_work + row_number() over (partition by platform, workspace_id order by is_automatic, wake_at) as place
      from (
        select id, status, wake_at, is_automatic, platform, workspace_id, free, in_work,
          row_number() over (partition by account_id order by is_automatic, wake_at) as of_account
        from ready
        where blocked_until is null
      ) as h
      where of_account <= free
    ) as r
    where place <= ${placesOfWorkspace(maxPerPlatform)}`;
}
