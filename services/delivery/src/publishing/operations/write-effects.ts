import type { TransactionSql } from "@postrider/shared/postgres";
import { countFailures, holdAccounts, resetFailures } from "#src/publishing/db/account-gates.ts";
import { insertQuestions } from "#src/publishing/db/detail-questions.ts";
import { addHandles, type HandleSealing } from "#src/publishing/db/handles.ts";
import type { AccountEffect, Decision } from "#src/publishing/domain/decision.ts";
import { nextAccountPauseMs, type RetryPolicy } from "#src/publishing/domain/retry-policy.ts";
import type { Task } from "#src/publishing/domain/task.ts";

/** Stores what platforms returned to publishing calls and what is still needed after the decisions. */
export async function writeHandles(
  tx: TransactionSql,
  sealing: HandleSealing,
  decisions: readonly Decision[],
): Promise<void> {
  const returned = decisions.flatMap(({ task, handles }) =>
    handles === undefined ? [] : [{ task, handles: sealing.seal(task, handles) }],
  );
  if (returned.length > 0) await addHandles(tx, returned);
  const questions = decisions.flatMap(({ task, askLater }) =>
    askLater === undefined ? [] : [{ task, handles: askLater }],
  );
  if (questions.length > 0) await insertQuestions(tx, questions);
}

/** Counts the failures of the accounts of the decisions, and pauses accounts that a platform limits or that fail repeatedly. */
export async function gateAccounts(
  tx: TransactionSql,
  policy: RetryPolicy,
  decisions: readonly Decision[],
  now: Date,
): Promise<void> {
  const tasksWith = (kind: AccountEffect["kind"]): readonly Task[] =>
    decisions.filter(({ account }) => account?.kind === kind).map(({ task }) => task);
  const answered = tasksWith("answered").map((task) => task.accountId);
  if (answered.length > 0) await resetFailures(tx, answered);
  const failed = tasksWith("failed");
  const counts = failed.length > 0 ? await countFailures(tx, failed) : [];
  const pauses = counts.flatMap(({ failuresInRow, ...account }) => {
    const pauseMs = nextAccountPauseMs(policy, failuresInRow);
    return pauseMs === undefined ? [] : [{ ...account, until: new Date(now.getTime() + pauseMs) }];
  });
  const limits = decisions.flatMap(({ task, account }) =>
    account?.kind === "limited" ? [{ ...task, until: account.until }] : [],
  );
  if (pauses.length + limits.length > 0) await holdAccounts(tx, [...pauses, ...limits]);
}
