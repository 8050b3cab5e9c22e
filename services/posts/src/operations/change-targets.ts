import { appendEvents, causedBy, type OutboxEvent } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";
import { freeGuards, keepGuards } from "#src/db/duplicate-guards.ts";
import { type ChangedPost, type LockedPost, type PostChange, updatePosts } from "#src/db/posts.ts";
import { moveQuota, type QuotaMove } from "#src/db/quota-usage.ts";
import { type AttemptRow, type TargetRow, updateTargets, upsertAttempts } from "#src/db/targets.ts";
import { nextPostStatus, type PostStatus } from "#src/domain/post-status.ts";
import { nameOfCounter } from "#src/domain/quota.ts";
import {
  firstPublishedAt,
  guardedUntil,
  type HoldingTarget,
  isVisiblyDifferent,
  quotaKeys,
  quotaShare,
  type TargetError,
} from "#src/domain/target.ts";
import { isSettled, postCancelled, postDeletionRequested, postSettled } from "#src/events.ts";

export interface TargetChange {
  readonly before: TargetRow;
  readonly after: TargetRow;
}

export interface PostChanges {
  readonly posts: readonly LockedPost[];
  readonly pairs: readonly TargetChange[];
  /** Reported attempts. The API shows them, so the version of their post has to rise. */
  readonly attempts?: readonly AttemptRow[];
  /** Set by a request; by default the status follows from the targets. */
  readonly command?: PostStatus;
  /** The API request that caused the change, by post; default: the current request. */
  readonly causes?: ReadonlyMap<string, Cause>;
}

/**
 * Only this function changes the status of a target, so that its guard and quota always change with
 * it. If the API shows the change, the post's version rises. Locks are taken in the order posts,
 * targets, duplicate guards, quota counters.
 */
export async function changeTargets(
  tx: TransactionSql,
  changes: PostChanges,
): Promise<readonly ChangedPost[]> {
  const changed = changes.pairs.filter(({ before, after }) => before !== after);
  const targets = changed.map(({ after }) => after);
  // The statements of a transaction are executed in the order in which they are sent, so sending
  // them together keeps the order of locks and saves the waits between them.
  const [attempted] = await Promise.all([
    upsertAttempts(tx, changes.attempts ?? []),
    updateTargets(tx, targets),
    moveGuards(tx, changed),
  ]);
  const posts = await changePosts(tx, changes, attempted);
  // Counters are locked last, because many posts share them.
  await Promise.all([
    appendEvents(tx, toEvents(changes, posts)),
    moveQuota(tx, quotaMoves(changed)),
  ]);
  return posts;
}

function toChange(
  post: LockedPost,
  targets: readonly TargetRow[],
  command: PostStatus | undefined,
): PostChange {
  const statuses = targets.map(({ status }) => status);
  return {
    workspaceId: post.workspaceId,
    postId: post.postId,
    status: command ?? nextPostStatus(post.status, statuses),
    publishedAt: firstPublishedAt(targets),
  };
}

async function changePosts(
  tx: TransactionSql,
  { posts, pairs, command }: PostChanges,
  attempted: ReadonlySet<string>,
): Promise<readonly ChangedPost[]> {
  const changedPosts = new Set(
    pairs
      .filter(({ before, after }) => attempted.has(after.id) || isVisiblyDifferent(before, after))
      .map(({ after }) => after.postId),
  );
  const targetsOf = Map.groupBy(
    pairs.map(({ after }) => after),
    ({ postId }) => postId,
  );
  const visible = posts.filter(
    ({ postId, status }) =>
      changedPosts.has(postId) || (command !== undefined && command !== status),
  );
  return await updatePosts(
    tx,
    visible.map((post) => toChange(post, targetsOf.get(post.postId) ?? [], command)),
  );
}

function toEvents(
  { posts, pairs, causes }: PostChanges,
  changed: readonly ChangedPost[],
): OutboxEvent[] {
  const statusBefore = new Map(posts.map(({ postId, status }) => [postId, status]));
  return changed.flatMap(({ status, updatedAt, ...post }) => {
    const changedPost = { ...post, occurredAt: updatedAt };
    const events: OutboxEvent[] = [];
    if (status !== statusBefore.get(post.postId)) {
      if (isSettled(status)) events.push(postSettled(status, changedPost));
      if (status === "cancelled") events.push(postCancelled(changedPost));
    }
    const deletions = pairs.filter(
      ({ before, after }) => after.postId === post.postId && after.deletion > before.deletion,
    );
    if (deletions.length > 0) {
      const targets = deletions.map(({ after }) => ({ ...after, targetId: after.id }));
      events.push(postDeletionRequested({ ...post, requestedAt: updatedAt, targets }));
    }
    return events.map((event) => causedBy(event, causes?.get(post.postId)));
  });
}

/** `after` is undefined when the target is deleted. */
export interface HoldingChange {
  readonly before: HoldingTarget;
  readonly after: HoldingTarget | undefined;
}

/** Never refuses. Requests that may be refused, such as a retry, call `takeGuards` instead. */
export async function moveGuards(
  tx: TransactionSql,
  changes: readonly HoldingChange[],
): Promise<void> {
  const keys = movedGuards(changes);
  const kept = keys.flatMap(({ until, contentHash, ...key }) =>
    until === undefined || contentHash === null ? [] : [{ ...key, contentHash, expiresAt: until }],
  );
  await Promise.all([
    freeGuards(
      tx,
      keys.filter(({ until }) => until === undefined),
    ),
    keepGuards(tx, kept),
  ]);
}

function movedGuards(changes: readonly HoldingChange[]) {
  const moved = changes.flatMap(({ before, after }) => {
    const was = guardedUntil(before);
    const until = after === undefined ? undefined : guardedUntil(after);
    if (was?.getTime() === until?.getTime() && (was === null) === (until === null)) return [];
    return [{ target: after ?? before, until }];
  });
  return moved.map(({ target, until }) => ({ ...target, targetId: target.id, until }));
}

/** A target that turns out to be published counts even above a limit. */
export function quotaMoves(changes: readonly HoldingChange[]): QuotaMove[] {
  const moves = changes.flatMap(({ before, after }) => [
    ...movesOf(before, -1),
    ...(after === undefined ? [] : movesOf(after, 1)),
  ]);
  const byCounter = Map.groupBy(moves, nameOfCounter);
  return [...byCounter.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const used = group.reduce((sum, move) => sum + move.used, 0);
    const reserved = group.reduce((sum, move) => sum + move.reserved, 0);
    const released = group.reduce((sum, move) => sum + move.released, 0);
    return [{ ...first, used, reserved, released }];
  });
}

function movesOf(target: HoldingTarget, sign: 1 | -1): QuotaMove[] {
  const { used, reserved } = quotaShare(target);
  const released = used + reserved === 0 ? 1 : 0;
  return quotaKeys(target).map(({ workspaceId, subject, period }) => ({
    workspaceId,
    subject,
    period,
    used: sign * used,
    reserved: sign * reserved,
    // Only the counter of a month says how often.
    released: subject === workspaceId ? sign * released : 0,
  }));
}

/** The error of a target whose publishing did not begin before its deadline. */
export const MISSED: TargetError = { code: "missed", message: "", retryable: true };
