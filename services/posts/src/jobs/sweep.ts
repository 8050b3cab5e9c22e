import { appendEvents, type OutboxEvent } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import {
  lockPostsOfTargets,
  lockRequestedDeletions,
  takeSilentDeletions,
  takeSilentTargets,
  type DeletionKey,
  type RequestedDeletion,
} from "#src/db/silent-targets.ts";
import { lockTargetsOf, type TargetKey, updateTargets } from "#src/db/targets.ts";
import { postDeletionRequested } from "#src/events.ts";
import { applyDeletionUpdates, applyTargetUpdates } from "#src/operations/apply-target-updates.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { requestPublishing } from "#src/operations/publish-requests.ts";

/** Maximum number of publishing targets about which one RPC asks the delivery service. */
const PAGE_TARGETS = 500;

type SweepDeps = Pick<PostsDeps, "sql" | "tasks" | "nudgeRelay"> & {
  /** Milliseconds without a report about an open target after which the sweep asks the delivery service about it. */
  readonly sweepAfterMs: number;
};

/**
 * Asks the delivery service about publishing targets that it has not reported about for some time and whose outcome is
 * open. The answers are applied like events. Targets that the delivery service does not know are requested again, so
 * that no post depends on the arrival of a single event. Deletions of published targets are handled in the same way.
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

/**
 * Asks the delivery service about one page of publishing targets and applies its answers. Each kind of answer has its
 * own transaction, which locks posts in id order.
 */
async function askAbout(
  { sql, tasks, nudgeRelay }: SweepDeps,
  refs: readonly TargetKey[],
  deletions: readonly DeletionKey[],
): Promise<void> {
  const answer = await tasks.batchGetTargetStates({ refs: [...refs], deletions: [...deletions] });
  const { updates, unknown, cancelled, unknownDeletions } = answer;
  if (updates.length > 0) await sql.begin((tx) => applyTargetUpdates(tx, updates));
  if (answer.deletions.length > 0)
    await sql.begin((tx) => applyDeletionUpdates(tx, answer.deletions));
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
 * Requests publishing again for targets that the delivery service has closed although their post still exists: the
 * process that deleted the post stopped after it had closed the targets, before it committed the deletion. Nothing was
 * published before.
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

/** Builds the requests to delete published targets once more, with the same data as the first time. */
function toRequests(deletions: readonly RequestedDeletion[]): OutboxEvent[] {
  const requests = Map.groupBy(deletions, ({ postId, requestedAt }) =>
    [postId, requestedAt.getTime()].join(" "),
  );
  return [...requests.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [postDeletionRequested({ ...first, targets: group })];
  });
}

/**
 * Asks the delivery service about targets without reports, at the start and then every `everyMs` milliseconds. Several
 * replicas ask about different targets.
 */
export function startSweep(
  options: SweepDeps & { readonly everyMs: number; readonly logger: Logger },
): AsyncDisposable {
  const { logger } = options;
  return startLoop({
    idleMs: options.everyMs,
    work: async () => {
      const count = await sweepTargets(options);
      if (count > 0)
        logger.info(
          { job: "sweep", count },
          "the periodic check of the posts service asked the delivery service about targets without a recent update",
        );
      return false;
    },
    onError: (error) =>
      logger.warn(
        { err: error, job: "sweep" },
        "the delivery service could not be asked about targets without a recent update; the next sweep tries again",
      ),
  });
}
