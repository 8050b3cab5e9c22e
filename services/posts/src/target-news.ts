import type { TargetUpdated } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { appendEvents } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import {
  lockPosts,
  updatePosts,
  type LockedPost,
  type PostChange,
  type PostRef,
} from "#src/db/posts.ts";
import { upsertAttempts } from "#src/db/target-attempts.ts";
import { lockTargetsOf, updateTargets, type TargetRow } from "#src/db/targets.ts";
import { nextPostStatus } from "#src/domain/post-status.ts";
import { applyTargetUpdate, isVisiblyDifferent } from "#src/domain/target.ts";
import { isSettled, postSettled } from "#src/events.ts";
import { newestAttempts, parseUpdate } from "#src/parse-target-news.ts";

/** When the post's first target was published. */
function firstPublishedAt(targets: readonly TargetRow[]): Date | null {
  const times = targets.flatMap(({ publishedAt }) => publishedAt?.getTime() ?? []);
  return times.length === 0 ? null : new Date(Math.min(...times));
}

function toChange(post: LockedPost, targets: readonly TargetRow[]): PostChange {
  return {
    workspaceId: post.workspaceId,
    postId: post.postId,
    status: nextPostStatus(
      post.status,
      targets.map(({ status }) => status),
    ),
    publishedAt: firstPublishedAt(targets),
  };
}

/** A target before and after the news of it. */
interface Pair {
  readonly before: TargetRow;
  readonly after: TargetRow;
}

function applyAll(targets: readonly TargetRow[], news: readonly TargetUpdated[]): readonly Pair[] {
  const byTarget = Map.groupBy(news, keyOf);
  return targets.map((before) => {
    const updates = byTarget.get(keyOf({ ...before, targetId: before.id })) ?? [];
    return { before, after: updates.map(parseUpdate).reduce(applyTargetUpdate<TargetRow>, before) };
  });
}

/** News counts only where workspace, post and target belong together. */
function keyOf({ workspaceId, postId, targetId }: PostRef & { readonly targetId: string }): string {
  return `${workspaceId} ${postId} ${targetId}`;
}

/**
 * Brings targets and their posts up to what delivery says, in the caller's transaction: the one way in for events and for
 * the sweep's answers. Any order, repetition or gap of the news before the newest gives the same result. Posts are locked
 * first, then their targets, both in id order. News of posts that are gone changes nothing.
 */
export async function applyTargetNews(
  tx: TransactionSql,
  news: readonly TargetUpdated[],
): Promise<void> {
  const posts = await lockPosts(tx, news);
  if (posts.length === 0) return;
  const targets = await lockTargetsOf(tx, posts);
  const known = new Set(targets.map((target) => keyOf({ ...target, targetId: target.id })));
  const pairs = applyAll(targets, news);
  const told = await upsertAttempts(
    tx,
    newestAttempts(news.filter((item) => known.has(keyOf(item)))),
  );
  await updateTargets(
    tx,
    pairs.flatMap(({ before, after }) => (before === after ? [] : [after])),
  );
  await changePosts(tx, posts, pairs, told);
}

/** Raises the version of the posts in which a reader sees a difference, and says which of them are settled now. */
async function changePosts(
  tx: TransactionSql,
  posts: readonly LockedPost[],
  pairs: readonly Pair[],
  told: ReadonlySet<string>,
): Promise<void> {
  const seen = new Set(
    pairs
      .filter(({ before, after }) => told.has(after.id) || isVisiblyDifferent(before, after))
      .map(({ after }) => after.postId),
  );
  const targetsOf = Map.groupBy(
    pairs.map(({ after }) => after),
    ({ postId }) => postId,
  );
  const visible = posts.filter(({ postId }) => seen.has(postId));
  const changed = await updatePosts(
    tx,
    visible.map((post) => toChange(post, targetsOf.get(post.postId) ?? [])),
  );
  const statusBefore = new Map(visible.map(({ postId, status }) => [postId, status]));
  const events = changed.flatMap(({ status, updatedAt, ...post }) =>
    isSettled(status) && status !== statusBefore.get(post.postId)
      ? [postSettled(status, { ...post, occurredAt: updatedAt })]
      : [],
  );
  await appendEvents(tx, events);
}
