import type {
  DeletionUpdated,
  TargetUpdated,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import type { TransactionSql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";
import { lockPosts, type LockedPost, type PostRef } from "#src/db/posts.ts";
import { upsertAttempts } from "#src/db/target-attempts.ts";
import { lockTargetsOf, type TargetRow } from "#src/db/targets.ts";
import { applyDeletionUpdate, requestDeletion } from "#src/domain/deletion.ts";
import { applyTargetUpdate } from "#src/domain/target.ts";
import { changeTargets, type TargetChange } from "./change-targets.ts";
import { newestAttempts, parseDeletion, parseUpdate } from "./parse-target-update.ts";

/** News counts only where workspace, post and target belong together. */
function keyOf({ workspaceId, postId, targetId }: PostRef & { readonly targetId: string }): string {
  return `${workspaceId} ${postId} ${targetId}`;
}

function applyAll<T extends PostRef & { readonly targetId: string }>(
  targets: readonly TargetRow[],
  news: readonly T[],
  apply: (target: TargetRow, item: T) => TargetRow,
): readonly TargetChange[] {
  const byTarget = Map.groupBy(news, keyOf);
  return targets.map((before) => {
    const items = byTarget.get(keyOf({ ...before, targetId: before.id })) ?? [];
    return { before, after: items.reduce(apply, before) };
  });
}

/**
 * What a target of a deleted post becomes by news of its publishing: nothing of it is open any more, so only outcomes
 * count. A publication is deleted at once; nobody is asked whether its account is still there, delivery finds out. A
 * failure that has become certain gives back what the target held while nobody knew.
 */
function applyToCancelled(target: TargetRow, item: TargetUpdated): TargetRow {
  const update = parseUpdate(item);
  if (update.status === "publishing") return target;
  return requestDeletion(applyTargetUpdate(target, update), { isConnected: true, again: false });
}

/**
 * Brings targets and their posts up to what delivery says, in the caller's transaction: the one way in for events and for
 * the sweep's answers. Any order, repetition or gap of the news before the newest gives the same result. Posts are locked
 * first, then their targets, both in id order. News of posts that are gone changes nothing.
 *
 * @param causes Who is behind the news, by post; without it the current request.
 */
export async function applyTargetNews(
  tx: TransactionSql,
  news: readonly TargetUpdated[],
  causes?: ReadonlyMap<string, Cause>,
): Promise<void> {
  const posts = await lockPosts(tx, news);
  if (posts.length === 0) return;
  const targets = await lockTargetsOf(tx, posts);
  const known = new Set(targets.map((target) => keyOf({ ...target, targetId: target.id })));
  const told = await upsertAttempts(
    tx,
    newestAttempts(news.filter((item) => known.has(keyOf(item)))),
  );
  const cancelled = cancelledIds(posts);
  const pairs = applyAll(targets, news, (target, item) =>
    cancelled.has(target.postId)
      ? applyToCancelled(target, item)
      : applyTargetUpdate(target, parseUpdate(item)),
  );
  await changeTargets(tx, { posts, pairs, told, ...(causes === undefined ? {} : { causes }) });
}

/** As `applyTargetNews`, for what became of deletions. */
export async function applyDeletionNews(
  tx: TransactionSql,
  news: readonly DeletionUpdated[],
  causes?: ReadonlyMap<string, Cause>,
): Promise<void> {
  const posts = await lockPosts(tx, news);
  if (posts.length === 0) return;
  const targets = await lockTargetsOf(tx, posts);
  const pairs = applyAll(targets, news, (target, item) =>
    applyDeletionUpdate(target, parseDeletion(item)),
  );
  await changeTargets(tx, { posts, pairs, ...(causes === undefined ? {} : { causes }) });
}

function cancelledIds(posts: readonly LockedPost[]): ReadonlySet<string> {
  return new Set(posts.flatMap(({ status, postId }) => (status === "cancelled" ? [postId] : [])));
}
