import type { TransactionSql } from "@postrider/shared/postgres";
import { startDueLoop } from "@postrider/shared/postgres/due-loop";
import { inHalves } from "@postrider/shared/postgres/in-halves";
import type { Loop } from "@postrider/shared/process/loop";
import {
  clearStoppedRule,
  hasStoppedRules,
  listStoppedRules,
  type StoppedRule,
} from "#src/engagement/db/automation-rules.ts";
import { hasBlockedReplies } from "#src/engagement/db/automation-sending.ts";
import { endBlocked, endStopped } from "#src/engagement/db/private-replies.ts";
import type { EndedPrivateReply } from "#src/engagement/domain/comment-action.ts";
import type { EngagementDeps } from "#src/engagement/operations/dependencies.ts";
import { finishRuns } from "#src/engagement/operations/finish-runs.ts";

const IDLE_MS = 60_000;
const MAX_RULES = 100;
const PAGE_SIZE = 500;

type Deps = Pick<EngagementDeps, "sql" | "logger" | "onEvents">;

/** Returns whether there may be more. A rule whose runs cannot be changed delays no other. */
export async function skipStoppedRuns(deps: Deps): Promise<boolean> {
  let hasMore = false;
  let rules: readonly StoppedRule[] = [];
  do {
    // Automation rules whose runs wait for the outcome of a private reply stay in the list, so
    // every pass reads the whole list, page by page.
    rules = await listStoppedRules(deps.sql, { limit: MAX_RULES, after: rules.at(-1) });
    for (const rule of rules)
      await inHalves(
        [rule],
        async () => {
          const count = await endReplies(deps, (tx) => endStopped(tx, rule, PAGE_SIZE));
          if (count === 0) await clearStoppedRule(deps.sql, rule);
          hasMore ||= count > 0;
        },
        (_, err) =>
          deps.logger.error(
            { err, job: "skip-stopped-runs", ruleId: rule.id },
            "the waiting runs of an automation rule could not be marked as skipped; the job skip-stopped-runs tries again",
          ),
      );
  } while (rules.length === MAX_RULES);
  return hasMore;
}

/** With their runs. Returns the number. */
async function endReplies(
  { sql, onEvents }: Pick<Deps, "sql" | "onEvents">,
  end: (tx: TransactionSql) => Promise<readonly EndedPrivateReply[]>,
): Promise<number> {
  const ended = await sql.begin(async (tx) => {
    const replies = await end(tx);
    await finishRuns(tx, replies);
    return replies;
  });
  if (ended.length > 0) onEvents();
  return ended.length;
}

/** Nothing is sent after a rule was stopped, even before this job has run. */
export function startSkipStoppedRuns(deps: Deps): Loop {
  return startDueLoop({
    sql: deps.sql,
    isDue: hasStoppedRules,
    idleMs: IDLE_MS,
    work: () => skipStoppedRuns(deps),
    onError: (error) =>
      deps.logger.warn(
        { err: error, job: "skip-stopped-runs" },
        "the waiting runs of paused and revoked automation rules could not be marked as skipped; the job skip-stopped-runs tries again",
      ),
  });
}

type BlockedDeps = Pick<EngagementDeps, "sql" | "logger" | "onEvents" | "guard">;

/** Returns whether there may be more. */
export async function endBlockedReplies(deps: Omit<BlockedDeps, "logger">): Promise<boolean> {
  if (!(await deps.guard.isOwn())) return false;
  return (await endReplies(deps, (tx) => endBlocked(tx, PAGE_SIZE))) === PAGE_SIZE;
}

/** Nothing is sent when sending is enabled again, even if this job has not run in between. */
export function startEndBlockedReplies(deps: BlockedDeps): Loop {
  return startDueLoop({
    sql: deps.sql,
    isDue: hasBlockedReplies,
    idleMs: IDLE_MS,
    work: () => endBlockedReplies(deps),
    onError: (error) =>
      deps.logger.warn(
        { err: error, job: "end-blocked-replies" },
        "waiting private replies could not be marked as failed although AUTOMATION_SENDING is `blocked`; none is sent, and the job end-blocked-replies tries again",
      ),
  });
}
