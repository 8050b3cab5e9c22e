import type { TransactionSql } from "@postrider/shared/postgres";

/**
 * Lets the transactions that add a rule to a workspace come one after the other, until they end: each counts what the one
 * before has added. There is no row to lock for what is not there yet. Two workspaces that share a hash only wait.
 */
export async function lockRuleCount(tx: TransactionSql, workspaceId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`queue_slot_rules ${workspaceId}`}, 0))`;
}
