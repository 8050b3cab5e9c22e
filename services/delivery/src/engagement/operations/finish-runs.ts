import type { TransactionSql } from "@postrider/shared/postgres";
import { endRuns } from "#src/engagement/db/automation-runs.ts";
import type { EndedPrivateReply } from "#src/engagement/domain/comment-action.ts";
import { endOfRun } from "#src/engagement/domain/plan-runs.ts";

/** Runs in the transaction that records the ends of the private replies. */
export async function finishRuns(
  tx: TransactionSql,
  ended: readonly EndedPrivateReply[],
): Promise<void> {
  await endRuns(
    tx,
    ended.map((each) => ({ runId: each.runId, ...endOfRun(each) })),
  );
}
