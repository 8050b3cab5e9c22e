import type { Sql } from "@postrider/shared/postgres";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import { ACTION_STATES, countActions } from "#src/engagement/db/action-counts.ts";
import {
  ACTION_TYPES,
  oldestDueAction,
  openActions,
} from "#src/engagement/operations/action-metrics.ts";
import type { EngagementDeps } from "#src/engagement/operations/dependencies.ts";

const EVERY_MS = 15_000;

export async function measureActions(sql: Sql): Promise<void> {
  const counts = await countActions(sql);
  for (const type of ACTION_TYPES) {
    const ofType = new Map(
      counts.filter((each) => each.type === type).map((each) => [each.state, each]),
    );
    for (const state of ACTION_STATES)
      openActions.set({ type, state }, ofType.get(state)?.count ?? 0);
    oldestDueAction.set({ type }, ofType.get("due")?.since);
  }
}

export function startCountCommentActions({
  sql,
  logger,
}: Pick<EngagementDeps, "sql" | "logger">): Loop {
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => {
      await measureActions(sql);
      return false;
    },
    onError: (error) =>
      logger.debug(
        { err: error },
        "comment actions could not be counted; their gauges at /metrics keep the last values",
      ),
  });
}
