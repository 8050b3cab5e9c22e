import type { ISql } from "@postrider/shared/postgres";
import { isInPlace } from "#src/db/data-place.ts";
import type { HeldAction } from "#src/engagement/domain/comment-action.ts";
import { isDoubtful } from "./restore-doubts.ts";
import { isBehindVisibility } from "./visibility-order.ts";

/**
 * SQL condition: the automation rule of private reply `a` (table `comment_actions`) is still active, and was not paused since
 * the private reply was stored. It is checked right before the call.
 */
function isRuleActive(sql: ISql) {
  return sql`exists (
    select 1
    from automation_rules r
    where r.id = a.rule_id
    and r.status = 'active'
    and r.activated_at <= a.created_at
  )`;
}

/**
 * SQL condition: private replies may be sent, and have been allowed without an interruption since private reply `a` (table
 * `comment_actions`) was stored.
 */
function isSendingAllowed(sql: ISql) {
  return sql`exists (
    select 1
    from automation_sending s
    where s.enabled_at <= a.created_at
  )`;
}

/** SQL condition: action `a` was requested by a user, or the automation rule of the private reply is still active. */
function isWanted(sql: ISql) {
  return sql`(a.type <> 'private_reply' or ${isRuleActive(sql)})`;
}

/** SQL condition: action `a` was requested by a user, or the operator still allows the private reply. */
function isAllowed(sql: ISql) {
  return sql`(a.type <> 'private_reply' or ${isSendingAllowed(sql)})`;
}

/**
 * Records, before the platform call is sent, that the call of an action begins: its status is `calling`, and no worker
 * claims the action before `call_until`.
 *
 * @param call Maximum duration of the call in milliseconds, and the platform's id of the account.
 * @returns The number of the call; undefined if it must not begin, see `explainUnmarked`.
 * @throws A unique violation if an open call on the same comment, of whichever workspace, cannot be told apart from this one.
 */
export async function markActionCall(
  sql: ISql,
  { id, fence }: HeldAction,
  { callMs, externalAccountId }: { readonly callMs: number; readonly externalAccountId: string },
): Promise<number | undefined> {
  // The deployment is checked here too, because the database can be replaced after the claim of the action.
  const [marked] = await sql<{ callNumber: number }[]>`
    update comment_actions a
    set status = 'calling',
      -- Whole milliseconds, so that a process that reads the instant and writes it back does not change it.
      called_at = date_trunc('milliseconds', now()),
      call_until = date_trunc('milliseconds', now()) + (${callMs}::int + 1) * interval '1 millisecond',
      wake_at = date_trunc('milliseconds', now()) + (${callMs}::int + 1) * interval '1 millisecond',
      call_number = a.call_number + 1,
      external_account_id = ${externalAccountId},
      version = a.version + 1
    from deployment d
    where a.id = ${id}
    and a.fence = ${fence}
    and a.status = 'working'
    and a.send_before > now()
    and ${isInPlace(sql)}
    and not ${isDoubtful(sql)}
    and ${isWanted(sql)}
    and ${isAllowed(sql)}
    and not ${isBehindVisibility(sql, sql`${externalAccountId}`)}
    returning a.call_number`;
  return marked?.callNumber;
}

/** Why the platform call of an action must not begin. */
export type Unmarked =
  /** Another worker has claimed the action. */
  | "lost"
  /** The time `send_before` has passed. */
  | "missed"
  /** The rule of the private reply is no longer active. */
  | "rule_inactive"
  /** The operator does not allow private replies, or blocked them at some time since the private reply was stored. */
  | "sending_blocked"
  /** The data was restored from a backup or is a copy. */
  | "held"
  /**
   * A call for the same comment that the platform cannot tell apart from this one is open, or an earlier one that hides or shows
   * the comment may still arrive, and has to end first.
   */
  | "busy";

/** Determines why the platform call of an action must not begin. */
export async function explainUnmarked(sql: ISql, { id, fence }: HeldAction): Promise<Unmarked> {
  const [row] = await sql<{ reason: Unmarked }[]>`
    select case
        when not ${isInPlace(sql)} or ${isDoubtful(sql)} then 'held'
        when a.send_before <= now() then 'missed'
        when not ${isWanted(sql)} then 'rule_inactive'
        when not ${isAllowed(sql)} then 'sending_blocked'
        else 'busy'
      end as reason
    from comment_actions a
    cross join deployment d
    where a.id = ${id}
    and a.fence = ${fence}
    and a.status = 'working'`;
  return row?.reason ?? "lost";
}
