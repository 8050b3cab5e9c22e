import type { TransactionSql } from "@postrider/shared/postgres";
import { lockAccount, pollNow } from "#src/engagement/db/automation-accounts.ts";
import { type MovedRule, resumeRule } from "#src/engagement/db/automation-rules.ts";

/**
 * Lets imported rules go on that were active in the cell that they come from. Their accounts are
 * polled anew; comments that were handled there have runs, which were imported.
 */
export async function resumeMovedRules(
  tx: TransactionSql,
  workspaceId: string,
  rules: readonly MovedRule[],
): Promise<void> {
  for (const rule of rules) {
    const account = await resumeRule(tx, workspaceId, rule);
    if (account === undefined) continue;
    await lockAccount(tx, { ...account, workspaceId });
    await pollNow(tx, account.accountId);
  }
}
