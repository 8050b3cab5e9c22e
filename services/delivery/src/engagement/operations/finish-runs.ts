import type { TransactionSql } from "@postrider/shared/postgres";
import { endRuns } from "#src/engagement/db/automation-runs.ts";
import type { EndedPrivateReply } from "#src/engagement/domain/comment-action.ts";
import { endOfRun } from "#src/engagement/domain/run-end.ts";

/**
 * Ends the runs of automation rules whose private replies have ended, in the transaction that
 * records these ends.
 */
export async function finishRuns(
  tx: TransactionSql,
  ended: readonly EndedPrivateReply[],
): Promise<void> {
  await endRuns(
    tx,
    ended.map((each) => ({ runId: each.runId, ...endOfRun(each) })),
  );
}
