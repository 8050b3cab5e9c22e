import { unavailable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { appendEvents } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { replacePostRow, replaceTargets } from "#src/db/command-posts.ts";
import { freeGuards, listCheckedGuards, takeGuards, toGuards } from "#src/db/duplicate-guards.ts";
import type { PostRow } from "#src/db/posts.ts";
import { freeSlot } from "#src/db/slot-assignments.ts";
import { lockTargetsOf, type TargetRow } from "#src/db/targets.ts";
import {
  type Placement,
  placeTargets,
  type PlannedTarget,
  planTargets,
} from "#src/domain/plan-post.ts";
import type { PostContent } from "#src/domain/post.ts";
import {
  changeOfDemands,
  type QuotaDemand,
  quotaDemands,
  type QuotaExhaustion,
  type QuotaLimits,
} from "#src/domain/quota.ts";
import { postPlaced } from "#src/events.ts";
import { findDuplicateError, reserveQuotaOrThrow } from "#src/operations/explain-refusal.ts";
import { type PostDependencies, toStoredMedia } from "#src/operations/validate-request.ts";

interface Replacement {
  readonly content: PostContent;
  readonly placement: Placement;
  readonly known: PostDependencies;
  readonly limits: QuotaLimits;
  readonly force: boolean;
  /** The database time at which the transaction began. */
  readonly now: Date;
}

/**
 * Locks are taken in the order targets, guards, slot, quota counters. On `duplicate_content` or
 * `quota_exceeded`, the caller must roll back.
 */
export async function writeUnpublishedPost(
  tx: TransactionSql,
  post: PostRow,
  replacement: Replacement,
): Promise<void> {
  const { content, placement, known, limits } = replacement;
  const { workspaceId, id: postId } = post;
  const ref = { workspaceId, postId };
  const before = await lockTargetsOf(tx, [ref]);
  const ids = new Map(before.map(({ accountId, id }) => [accountId, id]));
  const idOf = (accountId: string) => ids.get(accountId) ?? newId();
  const isDraft = placement.due === null;
  const planned = planTargets(content, known.accounts, { isDraft, idOf });
  const targets = placeTargets(planned, placement.due);
  await moveTargets(tx, before, { post, targets, ...replacement });
  if (post.queueSlotRuleId !== null && placement.queueSlotRuleId === null) await freeSlot(tx, ref);
  const demands = changeOfDemands(
    demandsOf(workspaceId, before, limits),
    demandsOf(workspaceId, targets, limits),
  );
  const { now } = replacement;
  const exhausted = await reserveQuotaOrThrow(tx, { demands, now });
  await writePost(tx, post, { targets, exhausted, ...replacement });
}

/**
 * A target whose content and time do not change keeps its guard. A forced post is not compared
 * again when only its time changes.
 */
async function moveTargets(
  tx: TransactionSql,
  before: readonly TargetRow[],
  change: Replacement & { readonly post: PostRow; readonly targets: readonly PlannedTarget[] },
): Promise<void> {
  const { post, targets, placement, force } = change;
  const { workspaceId, id: postId } = post;
  const dueAt = placement.due?.dueAt ?? null;
  const known = new Map(before.map((target) => [target.id, target]));
  const moved = targets.filter(({ id, contentHash }) => {
    const target = known.get(id);
    return target?.contentHash !== contentHash || target.dueAt?.getTime() !== dueAt?.getTime();
  });
  const checked = await listCheckedGuards(
    tx,
    moved.map(({ id }) => id),
  );
  const isForced = ({ id, contentHash }: PlannedTarget) =>
    force || (known.get(id)?.contentHash === contentHash && !checked.has(id));
  await freeGuards(
    tx,
    moved.map(({ id: targetId }) => ({ workspaceId, targetId })),
  );
  await replaceTargets(tx, { workspaceId, postId }, { targets, due: placement.due });
  await takeGuards(tx, toGuards(workspaceId, moved.filter(isForced), dueAt), true);
  const compared = moved.filter((target) => !isForced(target));
  const clashing = await takeGuards(tx, toGuards(workspaceId, compared, dueAt), false);
  if (clashing.length > 0) throw (await findDuplicateError(tx, clashing)) ?? unavailable();
}

async function writePost(
  tx: TransactionSql,
  post: PostRow,
  change: Replacement & {
    readonly targets: readonly PlannedTarget[];
    readonly exhausted: readonly QuotaExhaustion[];
  },
): Promise<void> {
  const { content, placement, known, targets, exhausted, now } = change;
  const { workspaceId, id: postId } = post;
  const { status, scheduledAt, queueSlotRuleId } = placement;
  await replacePostRow(tx, {
    workspaceId,
    postId,
    status,
    scheduledAt,
    queueSlotRuleId,
    content: content.content,
    options: content.options,
    mediaIds: content.mediaIds,
    media: toStoredMedia(content.mediaIds, known),
    platforms: [...new Set(targets.map(({ platform }) => platform))].toSorted(),
    startedAt: status === "publishing" ? now : null,
    notedAfter: known.now,
  });
  const isMoved = status !== post.status || scheduledAt?.getTime() !== post.scheduledAt?.getTime();
  const placed = { ...placement, workspaceId, postId, version: post.version + 1, occurredAt: now };
  // The event of the post also reports used-up quotas. It is therefore also appended for an
  // unchanged time, when an added account uses up a quota.
  if (isMoved || exhausted.length > 0)
    await appendEvents(tx, postPlaced({ ...placed, exhausted }, targets));
}

/** All targets of a post are due on the same day. */
function demandsOf(
  workspaceId: string,
  targets: readonly Pick<PlannedTarget, "accountId" | "platform" | "dueDay">[],
  limits: QuotaLimits,
): QuotaDemand[] {
  const dueDay = targets[0]?.dueDay ?? null;
  return dueDay === null ? [] : quotaDemands(workspaceId, targets, new Date(dueDay), limits);
}
