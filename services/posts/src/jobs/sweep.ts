import type { Client } from "@connectrpc/connect";
import type { TaskService } from "@postrider/contracts/delivery/v1/task_service_pb";
import { appendEvents, type OutboxEvent } from "@postrider/shared/outbox";
import type { Sql, TransactionSql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { lockPostsOfTargets } from "#src/db/command-posts.ts";
import {
  lockRequestedDeletions,
  takeSilentDeletions,
  type DeletionKey,
  type RequestedDeletion,
} from "#src/db/deletions.ts";
import {
  lockTargetsOf,
  takeSilentTargets,
  updateTargets,
  type TargetKey,
} from "#src/db/targets.ts";
import { postDeletionRequested } from "#src/events.ts";
import { requestPublishing } from "#src/operations/publish-requests.ts";
import { applyDeletionNews, applyTargetNews } from "#src/operations/target-updates.ts";

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
 * events, and requests again those that delivery does not know: whatever became of an event, its post goes on. Deletions
 * that are under way are asked about in the same way.
 */
export async function sweepTargets(deps: SweepDeps): Promise<number> {
  const { sql, sweepAfterMs: silentMs } = deps;
  let count = 0;
  for (;;) {
    const page = { silentMs, limit: PAGE_TARGETS };
    const [silent, deletions] = await Promise.all([
      takeSilentTargets(sql, page),
      takeSilentDeletions(sql, page),
    ]);
    if (silent.length + deletions.length > 0) await askAbout(deps, silent, deletions);
    count += silent.length + deletions.length;
    if (silent.length < PAGE_TARGETS && deletions.length < PAGE_TARGETS) return count;
  }
}

/** A transaction for each kind of answer: each locks posts that the others have not, in id order. */
async function askAbout(
  { sql, tasks, nudgeRelay }: SweepDeps,
  refs: readonly TargetKey[],
  deletions: readonly DeletionKey[],
): Promise<void> {
  const answer = await tasks.batchGetTargetStates({ refs: [...refs], deletions: [...deletions] });
  const { updates, unknown, cancelled, unknownDeletions } = answer;
  if (updates.length > 0) await sql.begin((tx) => applyTargetNews(tx, updates));
  if (answer.deletions.length > 0) await sql.begin((tx) => applyDeletionNews(tx, answer.deletions));
  const closed = new Set(cancelled.map(keyOf));
  const lost = unknown.filter((ref) => !closed.has(keyOf(ref)));
  if (lost.length > 0) await sql.begin((tx) => requestPublishing(tx, lost));
  if (cancelled.length > 0) await sql.begin((tx) => reopenTargets(tx, cancelled));
  if (unknownDeletions.length > 0) {
    await sql.begin(async (tx) => {
      await appendEvents(tx, toRequests(await lockRequestedDeletions(tx, unknownDeletions)));
    });
  }
  nudgeRelay();
}

function keyOf({ workspaceId, targetId, generation }: TargetKey): string {
  return `${workspaceId} ${targetId} ${generation}`;
}

/**
 * Delivery has closed these targets, yet they are still wanted: the deletion of their post did not get as far as its
 * commit. Nothing was sent for them, so a new generation goes on where the old one stopped.
 */
async function reopenTargets(tx: TransactionSql, keys: readonly TargetKey[]): Promise<void> {
  const closed = new Set(keys.map(keyOf));
  const posts = await lockPostsOfTargets(tx, keys);
  const publishing = posts.filter(({ status }) => status === "publishing");
  if (publishing.length === 0) return;
  const targets = await lockTargetsOf(tx, publishing);
  const reopened = targets
    .filter((target) => closed.has(keyOf({ ...target, targetId: target.id })))
    .filter(({ status }) => status === "pending" || status === "publishing")
    .map((target) => ({ ...target, generation: target.generation + 1 }));
  await updateTargets(tx, reopened);
  await requestPublishing(
    tx,
    reopened.map((target) => ({ ...target, targetId: target.id })),
  );
}

/** The requests as they were first made. */
function toRequests(deletions: readonly RequestedDeletion[]): OutboxEvent[] {
  const requests = Map.groupBy(deletions, ({ postId, requestedAt }) =>
    [postId, requestedAt.getTime()].join(" "),
  );
  return [...requests.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [postDeletionRequested({ ...first, targets: group })];
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
