import type { ISql } from "@postrider/shared/postgres";

/**
 * SQL condition: the automation rule of private reply `a` (table `comment_actions`) is still active, and was not paused since
 * the private reply was stored. It is checked right before the call.
 */
export function isRuleActive(sql: ISql) {
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
export function isSendingAllowed(sql: ISql) {
  return sql`exists (
    select 1
    from automation_sending s
    where s.enabled_at <= a.created_at
  )`;
}
