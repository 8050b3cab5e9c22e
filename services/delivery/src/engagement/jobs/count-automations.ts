import { startLoop, type Loop } from "@postrider/shared/process/loop";
import { countAutomations } from "#src/engagement/db/automation-counts.ts";
import {
  dueAccounts,
  failingAccounts,
  oldestDueAccount,
  oldestWaitingRun,
  waitingRuns,
} from "#src/engagement/operations/automation-metrics.ts";
import type { EngagementDeps } from "#src/engagement/operations/dependencies.ts";

const EVERY_MS = 15_000;

type Deps = Pick<EngagementDeps, "sql" | "logger" | "connectors">;

export async function measureAutomations({
  sql,
  connectors,
}: Pick<Deps, "sql" | "connectors">): Promise<void> {
  const counts = await countAutomations(sql);
  waitingRuns.set(counts.waiting);
  oldestWaitingRun.set({}, counts.oldestWaitingAt ?? undefined);
  dueAccounts.set(counts.due);
  oldestDueAccount.set({}, counts.oldestDueAt ?? undefined);
  for (const platform of Object.keys(connectors.privateReplies))
    failingAccounts.set({ platform }, counts.failing[platform] ?? 0);
}

/** In the whole installation, not only in this process. */
export function startCountAutomations(deps: Deps): Loop {
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => {
      await measureAutomations(deps);
      return false;
    },
    onError: (error) =>
      deps.logger.debug(
        { err: error },
        "the waiting runs of automation rules could not be counted; their gauges at /metrics keep the last values",
      ),
  });
}
