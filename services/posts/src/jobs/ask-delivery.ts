import type { TargetUpdated } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { type Failure, tryHalving } from "@postrider/shared/bus/halving";
import { ServiceError } from "@postrider/shared/errors";
import { deriveId } from "@postrider/shared/ids";
import { appendEvents, type OutboxEvent } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import {
  type DeletionKey,
  lockPostsOfTargets,
  lockRequestedDeletions,
  type RequestedDeletion,
  type SilentTarget,
  withoutWaiting,
} from "#src/db/silent-targets.ts";
import { lockTargetsOf, type TargetKey, updateTargets } from "#src/db/targets.ts";
import { postDeletionRequested } from "#src/events.ts";
import { applyDeletionUpdates, applyTargetUpdates } from "#src/operations/apply-target-updates.ts";
import { changeTargets, MISSED } from "#src/operations/change-targets.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { repeatRequests, requestPublishing } from "#src/operations/publish-requests.ts";

type Deps = Pick<PostsDeps, "sql" | "tasks">;

/**
 * Of one post: not begun before their deadline and unknown to the delivery service. It closes the
 * targets first, so that a publish request that arrives late does not start them.
 */
async function missTargets({ sql, tasks }: Deps, targets: readonly SilentTarget[]): Promise<void> {
  const [first] = targets;
  if (first === undefined) return;
  const closed = targets.map(({ workspaceId, targetId, generation, accountId, platform }) => ({
    ref: { workspaceId, targetId, generation },
    accountId,
    platform,
  }));
  let ended: readonly TargetUpdated[];
  try {
    ({ ended } = await tasks.cancelTargets({ postId: first.postId, targets: closed }));
  } catch (error) {
    // The delivery service does not close a target that an older publish request may have
    // published. No target is then marked as failed, and the next sweep asks the delivery service
    // again.
    if (error instanceof ServiceError && error.reason === "post_publishing") return;
    throw error;
  }
  await sql.begin((tx) => failMissedTargets(tx, targets, ended));
}

/** Targets that had ended before they were closed keep their outcomes. */
async function failMissedTargets(
  tx: TransactionSql,
  keys: readonly TargetKey[],
  ended: readonly TargetUpdated[],
): Promise<void> {
  if (ended.length > 0) await applyTargetUpdates(tx, ended);
  const posts = await lockPostsOfTargets(tx, keys);
  const publishing = posts.filter(({ status }) => status === "publishing");
  if (publishing.length === 0) return;
  const generations = new Map(keys.map(({ targetId, generation }) => [targetId, generation]));
  const pairs = (await lockTargetsOf(tx, publishing)).map((before) => {
    const isOpen = before.status === "pending" || before.status === "publishing";
    const isMissed = isOpen && generations.get(before.id) === before.generation;
    const after = isMissed ? { ...before, status: "failed" as const, error: MISSED } : before;
    return { before, after };
  });
  await changeTargets(tx, { posts: publishing, pairs });
}

export type AskDeps = Pick<PostsDeps, "sql" | "tasks" | "nudgeRelay"> & { readonly logger: Logger };

type Question =
  | { readonly kind: "target"; readonly target: SilentTarget }
  | { readonly kind: "deletion"; readonly deletion: DeletionKey };

/**
 * A batch that fails is halved, down to the single question or answer that fails, which is logged;
 * the others are still answered. Throws when the delivery service or the database is unavailable.
 */
export async function askDelivery(
  deps: AskDeps,
  targets: readonly SilentTarget[],
  deletions: readonly DeletionKey[],
): Promise<void> {
  const questions: Question[] = [
    ...targets.map((target) => ({ kind: "target" as const, target })),
    ...deletions.map((deletion) => ({ kind: "deletion" as const, deletion })),
  ];
  const failures = await tryHalving(questions, (part) => askTogether(deps, part));
  logFailures(
    deps,
    failures.map(({ item, error }) => ({
      item: item.kind === "target" ? item.target : item.deletion,
      error,
    })),
  );
  if (questions.length > 0) deps.nudgeRelay();
}

function logFailures(
  { logger }: Pick<AskDeps, "logger">,
  failures: readonly Failure<{ readonly workspaceId: string; readonly targetId: string }>[],
): void {
  for (const { item, error } of failures) {
    const { workspaceId, targetId } = item;
    logger.error(
      { err: error, job: "sweep", workspaceId, targetId },
      "the delivery service's answer about a target could not be applied; the next sweep asks about the target again",
    );
  }
}

async function askTogether(deps: AskDeps, questions: readonly Question[]): Promise<void> {
  const targets = questions.flatMap((each) => (each.kind === "target" ? [each.target] : []));
  const deletions = questions.flatMap((each) => (each.kind === "deletion" ? [each.deletion] : []));
  const answer = await deps.tasks.batchGetTargetStates({
    refs: targets.map(({ workspaceId, targetId, generation }) => ({
      workspaceId,
      targetId,
      generation,
    })),
    deletions: deletions.map(({ workspaceId, targetId, deletion }) => ({
      workspaceId,
      targetId,
      deletion,
    })),
  });
  const unknown = new Set(answer.unknown.map(keyOf));
  const closed = new Set(answer.cancelled.map(keyOf));
  const idle = targets.filter((target) => unknown.has(keyOf(target)));
  const expired = Map.groupBy(
    idle.filter(({ isExpired }) => isExpired),
    ({ postId }) => postId,
  );
  const wanted = idle.filter(({ isExpired }) => !isExpired);
  const lost = wanted.filter((target) => !closed.has(keyOf(target)));
  const reopened = wanted.filter((target) => closed.has(keyOf(target)));
  await apply(deps, answer.updates, applyTargetUpdates);
  await apply(deps, answer.deletions, applyDeletionUpdates);
  await apply(deps, lost, repeatRequests);
  await apply(deps, reopened, reopenTargets);
  await apply(deps, answer.unknownDeletions, requestDeletions);
  for (const missed of expired.values())
    logFailures(deps, await tryHalving(missed, (part) => missTargets(deps, part)));
}

/** If the transaction fails, each half of the answers is tried separately. */
async function apply<T extends { readonly workspaceId: string; readonly targetId: string }>(
  deps: AskDeps,
  answers: readonly T[],
  work: (tx: TransactionSql, answers: readonly T[]) => Promise<void>,
): Promise<void> {
  const failures = await tryHalving(answers, async (part) => {
    await deps.sql.begin((tx) => work(tx, part));
  });
  logFailures(deps, failures);
}

function keyOf({ workspaceId, targetId, generation }: TargetKey): string {
  return `${workspaceId} ${targetId} ${generation}`;
}

/**
 * The delivery service has closed them, but the process that deleted the post stopped before it
 * committed the deletion. Nothing was published before.
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

async function requestDeletions(tx: TransactionSql, keys: readonly DeletionKey[]): Promise<void> {
  const lost = await withoutWaiting(tx, await lockRequestedDeletions(tx, keys));
  await appendEvents(tx, toRequests(lost));
}

/** A repeated request has the data and the id of the first, as in `requestPublishing`. */
function toRequests(deletions: readonly RequestedDeletion[]): OutboxEvent[] {
  const requests = Map.groupBy(deletions, ({ postId, requestedAt }) =>
    [postId, requestedAt.getTime()].join(" "),
  );
  return [...requests.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const names = group.map(({ targetId, deletion }) => `${targetId}/${deletion}`);
    const id = deriveId(`delete ${names.toSorted().join(" ")}`);
    return [{ ...postDeletionRequested({ ...first, targets: group }), id }];
  });
}
