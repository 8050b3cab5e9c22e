import { appendEvents, causedBy, type OutboxEvent } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";
import { updatePosts, type ChangedPost, type LockedPost, type PostChange } from "#src/db/posts.ts";
import { updateTargets, type TargetRow } from "#src/db/targets.ts";
import { nextPostStatus, type PostStatus } from "#src/domain/post-status.ts";
import { isVisiblyDifferent } from "#src/domain/target.ts";
import { isSettled, postCancelled, postDeletionRequested, postSettled } from "#src/events.ts";
import { moveHoldings } from "./target-holdings.ts";

/** A target before and after a change. */
export interface TargetChange {
  readonly before: TargetRow;
  readonly after: TargetRow;
}

/** Locked posts, and all of their locked targets, with what is to become of them. */
export interface PostChanges {
  readonly posts: readonly LockedPost[];
  readonly pairs: readonly TargetChange[];
  /** Targets of which a reader sees something new besides. */
  readonly told?: ReadonlySet<string>;
  /** What the posts become by a command; without it they become what their targets fold to. */
  readonly command?: PostStatus;
  /** Who caused it, by post; without it the current request. */
  readonly causes?: ReadonlyMap<string, Cause>;
}

/**
 * Writes what becomes of targets and their posts, in the caller's transaction: the one place in which a target's status
 * changes, so that the duplicate guard and quota always move with it. The version of a post rises with what a reader can
 * see, and then its events say so. Locks are taken in the order post, targets, guards, counters.
 */
export async function changeTargets(
  tx: TransactionSql,
  changes: PostChanges,
): Promise<readonly ChangedPost[]> {
  const changed = changes.pairs.filter(({ before, after }) => before !== after);
  await updateTargets(
    tx,
    changed.map(({ after }) => after),
  );
  await moveHoldings(tx, changed);
  const posts = await changePosts(tx, changes);
  await appendEvents(tx, toEvents(changes, posts));
  return posts;
}

/** When the post's first target was published. */
function firstPublishedAt(targets: readonly TargetRow[]): Date | null {
  const times = targets.flatMap(({ publishedAt }) => publishedAt?.getTime() ?? []);
  return times.length === 0 ? null : new Date(Math.min(...times));
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
  { posts, pairs, told = new Set(), command }: PostChanges,
): Promise<readonly ChangedPost[]> {
  const seen = new Set(
    pairs
      .filter(({ before, after }) => told.has(after.id) || isVisiblyDifferent(before, after))
      .map(({ after }) => after.postId),
  );
  const targetsOf = Map.groupBy(
    pairs.map(({ after }) => after),
    ({ postId }) => postId,
  );
  const visible = posts.filter(
    ({ postId, status }) => seen.has(postId) || (command !== undefined && command !== status),
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
    const told = { ...post, occurredAt: updatedAt };
    const events: OutboxEvent[] = [];
    if (status !== statusBefore.get(post.postId)) {
      if (isSettled(status)) events.push(postSettled(status, told));
      if (status === "cancelled") events.push(postCancelled(told));
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
