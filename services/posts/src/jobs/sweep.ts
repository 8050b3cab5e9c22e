import type { Client } from "@connectrpc/connect";
import type { TaskService } from "@postrider/contracts/delivery/v1/task_service_pb";
import type { Logger } from "@postrider/shared/logger";
import { startLoop } from "@postrider/shared/loop";
import { appendEvents, type OutboxEvent } from "@postrider/shared/outbox";
import type { Sql } from "@postrider/shared/postgres";
import {
  lockRequestedTargets,
  takeSilentTargets,
  type RequestedTargetRow,
  type TargetKey,
} from "#src/db/targets.ts";
import { postPublishRequested } from "#src/events.ts";
import { applyTargetNews } from "#src/target-news.ts";

/** As many as delivery answers in one call. */
const PAGE_TARGETS = 500;

export interface SweepDeps {
  readonly sql: Sql;
  readonly tasks: Client<typeof TaskService>;
  /** How long nothing may be heard of an open target. */
  readonly sweepAfterMs: number;
  readonly nudgeRelay: () => void;
}

/**
 * Asks delivery about the targets whose outcome is open and of which nothing was heard, takes the answers as if they were
 * events, and requests again those that delivery does not know: whatever became of an event, its post goes on.
 */
export async function sweepTargets(deps: SweepDeps): Promise<number> {
  let count = 0;
  for (;;) {
    const silent = await takeSilentTargets(deps.sql, {
      silentMs: deps.sweepAfterMs,
      limit: PAGE_TARGETS,
    });
    if (silent.length > 0) await askAbout(deps, silent);
    count += silent.length;
    if (silent.length < PAGE_TARGETS) return count;
  }
}

/** Two transactions: the second locks posts that the first has not, and each must lock in id order. */
async function askAbout(
  { sql, tasks, nudgeRelay }: SweepDeps,
  refs: readonly TargetKey[],
): Promise<void> {
  const { updates, unknown } = await tasks.batchGetTargetStates({ refs: [...refs] });
  if (updates.length > 0) await sql.begin((tx) => applyTargetNews(tx, updates));
  if (unknown.length > 0) {
    await sql.begin(async (tx) => {
      await appendEvents(tx, toRequests(await lockRequestedTargets(tx, unknown)));
    });
  }
  nudgeRelay();
}

/** The requests as they were first made: same generation, same times. */
function toRequests(targets: readonly RequestedTargetRow[]): OutboxEvent[] {
  const requests = Map.groupBy(targets, ({ postId, dueAt, publishBefore }) =>
    [postId, dueAt.getTime(), publishBefore.getTime()].join(" "),
  );
  return [...requests.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [postPublishRequested({ ...first, targets: group })];
  });
}

/** Sweeps at the start and then every `everyMs`. Replicas take different targets. */
export function startSweep(
  options: SweepDeps & { readonly everyMs: number; readonly logger: Logger },
): AsyncDisposable {
  const { logger } = options;
  return startLoop({
    idleMs: options.everyMs,
    work: async () => {
      const count = await sweepTargets(options);
      if (count > 0) logger.info({ job: "sweep", count }, "asked delivery about silent targets");
      return false;
    },
    onError: (error) => logger.warn({ err: error, job: "sweep" }, "sweep failed"),
  });
}
