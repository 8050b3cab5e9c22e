import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import type {
  DeletionUpdated,
  TargetUpdated,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import type { TransactionSql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { Cause } from "@postrider/shared/telemetry/cause";
import { lockPosts, type PostRef } from "#src/db/posts.ts";
import { lockTargetsOf, type AttemptRow, type TargetRow } from "#src/db/targets.ts";
import { applyDeletionUpdate, requestDeletion, type DeletionUpdate } from "#src/domain/deletion.ts";
import { applyTargetUpdate, type TargetUpdate } from "#src/domain/target.ts";
import { changeTargets, type TargetChange } from "./change-targets.ts";

type Apply<T> = (
  tx: TransactionSql,
  updates: readonly T[],
  causes: ReadonlyMap<string, Cause>,
) => Promise<void>;

/** The events that `apply` appends for a post name the API request that led to the report. */
export function createUpdateHandler<T extends { readonly postId: string }>(apply: Apply<T>) {
  return async (
    tx: TransactionSql,
    events: readonly { readonly message: T; readonly cause: Cause }[],
  ): Promise<void> => {
    const causes = new Map(events.map(({ message, cause }) => [message.postId, cause]));
    await apply(
      tx,
      events.map(({ message }) => message),
      causes,
    );
    failpoint("posts.in-consumer");
  };
}

/**
 * From events or the sweep. Late, repeated or lost reports do not change the result, as long as the
 * newest arrives. Posts are locked first, then targets, both in id order. `causes`: the API
 * requests that led to the reports, by post; default: the current one.
 */
export async function applyTargetUpdates(
  tx: TransactionSql,
  updates: readonly TargetUpdated[],
  causes?: ReadonlyMap<string, Cause>,
): Promise<void> {
  const { posts, targets } = await lockReported(tx, updates);
  if (posts.length === 0) return;
  const known = new Set(targets.map((target) => keyOf({ ...target, targetId: target.id })));
  const attempts = newestAttempts(updates.filter((update) => known.has(keyOf(update))));
  const cancelled = new Set(
    posts.flatMap(({ status, postId }) => (status === "cancelled" ? [postId] : [])),
  );
  const pairs = applyAll(targets, updates, (target, update) =>
    cancelled.has(target.postId)
      ? applyToCancelled(target, parseTargetUpdate(update))
      : applyTargetUpdate(target, parseTargetUpdate(update)),
  );
  await changeTargets(tx, { posts, pairs, attempts, ...(causes === undefined ? {} : { causes }) });
}

/** Applies reports about deletions, as `applyTargetUpdates` does. */
export async function applyDeletionUpdates(
  tx: TransactionSql,
  updates: readonly DeletionUpdated[],
  causes?: ReadonlyMap<string, Cause>,
): Promise<void> {
  const { posts, targets } = await lockReported(tx, updates);
  if (posts.length === 0) return;
  const pairs = applyAll(targets, updates, (target, update) =>
    applyDeletionUpdate(target, parseDeletionUpdate(update)),
  );
  await changeTargets(tx, { posts, pairs, ...(causes === undefined ? {} : { causes }) });
}

/** Both statements are sent at once, and executed in this order. */
async function lockReported(tx: TransactionSql, refs: readonly PostRef[]) {
  const [posts, targets] = await Promise.all([lockPosts(tx, refs), lockTargetsOf(tx, refs)]);
  return { posts, targets };
}

/** A report is ignored unless its workspace, post and target belong together. */
function keyOf({ workspaceId, postId, targetId }: PostRef & { readonly targetId: string }): string {
  return `${workspaceId} ${postId} ${targetId}`;
}

function applyAll<T extends PostRef & { readonly targetId: string }>(
  targets: readonly TargetRow[],
  updates: readonly T[],
  apply: (target: TargetRow, update: T) => TargetRow,
): readonly TargetChange[] {
  const byTarget = Map.groupBy(updates, keyOf);
  return targets.map((before) => {
    const own = byTarget.get(keyOf({ ...before, targetId: before.id })) ?? [];
    return { before, after: own.reduce(apply, before) };
  });
}

/**
 * Only outcomes matter. A target that was published nevertheless is deleted at once; one that has
 * certainly failed frees its quota.
 */
function applyToCancelled(target: TargetRow, update: TargetUpdate): TargetRow {
  if (update.status === "publishing") return target;
  return requestDeletion(applyTargetUpdate(target, update), { isConnected: true, again: false });
}

function toDate(instant: Timestamp | undefined): Date | null {
  return instant === undefined ? null : timestampDate(instant);
}

function parseStatus(status: string): TargetUpdate["status"] {
  if (status === "publishing" || status === "published" || status === "failed") return status;
  throw new Error(
    `the delivery service reported an unknown target status: ${JSON.stringify(status)}`,
  );
}

/** An unknown status throws, so that the event consumer parks the message. */
function parseTargetUpdate(message: TargetUpdated): TargetUpdate {
  const { errorCode: code, errorMessage = "", errorRetryable: retryable } = message;
  return {
    generation: message.generation,
    version: Number(message.version),
    status: parseStatus(message.status),
    externalId: message.externalId ?? null,
    permalink: message.permalink ?? null,
    publishedAt: toDate(message.publishedAt),
    error: code === undefined ? null : { code, message: errorMessage, retryable },
    attemptCount: message.attemptCount,
    nextAttemptAt: toDate(message.nextAttemptAt),
  };
}

function parseDeletionStatus(status: string): DeletionUpdate["status"] {
  if (status === "deleting" || status === "deleted" || status === "delete_failed") return status;
  throw new Error(
    `the delivery service reported an unknown deletion status: ${JSON.stringify(status)}`,
  );
}

function parseDeletionUpdate(message: DeletionUpdated): DeletionUpdate {
  const { errorCode: code, errorMessage = "", errorRetryable: retryable } = message;
  return {
    deletion: message.deletion,
    version: Number(message.version),
    status: parseDeletionStatus(message.status),
    error: code === undefined ? null : { code, message: errorMessage, retryable },
  };
}

function parseAttempt(message: TargetUpdated): AttemptRow | undefined {
  const { attempt } = message;
  if (attempt?.startedAt === undefined) return undefined;
  return {
    workspaceId: message.workspaceId,
    targetId: message.targetId,
    number: attempt.number,
    generation: message.generation,
    version: Number(message.version),
    startedAt: timestampDate(attempt.startedAt),
    finishedAt: toDate(attempt.finishedAt),
    outcome: attempt.outcome,
    code: attempt.code,
    message: attempt.message,
  };
}

/** One insert must not write the same row twice. */
function newestAttempts(updates: readonly TargetUpdated[]): AttemptRow[] {
  const newest = new Map<string, AttemptRow>();
  for (const attempt of updates.flatMap((message) => parseAttempt(message) ?? [])) {
    const key = `${attempt.targetId} ${attempt.number}`;
    const known = newest.get(key);
    const age =
      known === undefined
        ? 1
        : attempt.generation - known.generation || attempt.version - known.version;
    if (age > 0) newest.set(key, attempt);
  }
  return [...newest.values()];
}
