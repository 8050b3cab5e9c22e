import { startLoop, type Loop } from "@postrider/shared/process/loop";
import { endBlocked } from "#src/engagement/db/blocked-replies.ts";
import type { EngagementDeps } from "#src/engagement/operations/dependencies.ts";
import { finishRuns } from "#src/engagement/operations/finish-runs.ts";

const EVERY_MS = 1_000;
const PAGE_SIZE = 500;

type Deps = Pick<EngagementDeps, "sql" | "logger" | "onEvents" | "guard">;

/** Returns whether there may be more. */
export async function endBlockedReplies({
  sql,
  guard,
  onEvents,
}: Omit<Deps, "logger">): Promise<boolean> {
  if (!(await guard.isOwn())) return false;
  const ended = await sql.begin(async (tx) => {
    const replies = await endBlocked(tx, PAGE_SIZE);
    await finishRuns(tx, replies);
    return replies;
  });
  if (ended.length > 0) onEvents();
  return ended.length === PAGE_SIZE;
}

/** Nothing is sent when sending is enabled again, even if this job has not run in between. */
export function startEndBlockedReplies(deps: Deps): Loop {
  return startLoop({
    idleMs: EVERY_MS,
    work: () => endBlockedReplies(deps),
    onError: (error) =>
      deps.logger.warn(
        { err: error, job: "end-blocked-replies" },
        "private replies that AUTOMATION_SENDING=blocked holds back could not be marked as failed; they are not sent, and the job end-blocked-replies tries again",
      ),
  });
}
