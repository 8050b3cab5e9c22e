import type { ISql } from "@postrider/shared/postgres";

/** SQL condition: the rule of private reply `a` (table `comment_actions`) is still active. It is checked right before the call. */
export function isRuleActive(sql: ISql) {
  return sql`true`;
}
