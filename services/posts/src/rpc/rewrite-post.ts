import { toJson } from "@bufbuild/protobuf";
import { MediaSchema } from "@postrider/contracts/media/v1/media_pb";
import { isPlatformId } from "@postrider/platforms/registry";
import { notFound, unavailable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { appendEvents } from "@postrider/shared/outbox";
import type { Sql, TransactionSql } from "@postrider/shared/postgres";
import { lockPost, replacePost, type CommandPost } from "#src/db/command-posts.ts";
import { freeGuards, takeGuards, type Guard } from "#src/db/duplicate-guards.ts";
import { MEDIA_USE_EXPIRED } from "#src/db/media-uses.ts";
import { findPost, type PostRow } from "#src/db/posts.ts";
import { reserveQuota } from "#src/db/quota-usage.ts";
import { isDeadlock, refusalOf } from "#src/db/refusal.ts";
import { replaceTargets, type PlannedTarget } from "#src/db/replace-targets.ts";
import { freeSlot } from "#src/db/slot-assignments.ts";
import { lockTargetsOf, type TargetRow } from "#src/db/targets.ts";
import type { PostInput } from "#src/domain/check-post.ts";
import { contentHash } from "#src/domain/content-hash.ts";
import { effectiveContent } from "#src/domain/effective-content.ts";
import type { PostAccount } from "#src/domain/post.ts";
import {
  changeOfDemands,
  dayOf,
  quotaDemands,
  type QuotaDemand,
  type QuotaLimits,
} from "#src/domain/quota.ts";
import { postPublishRequested, postScheduled } from "#src/events.ts";
import type { Surroundings } from "#src/rpc/inspect-post.ts";
import { explainDuplicates, explainShortage } from "#src/rpc/refusals.ts";

/** What becomes of a post that was not begun. */
export interface Placement {
  readonly status: "draft" | "scheduled" | "publishing";
  readonly scheduledAt: Date | null;
  /** When its targets are due; null for a draft. */
  readonly dueAt: Date | null;
}

/** A change of a draft or scheduled post, found good for the version that was seen. */
export interface Rewrite {
  readonly seen: PostRow;
  readonly input: PostInput;
  readonly known: Surroundings;
  readonly limits: QuotaLimits;
  readonly force: boolean;
  readonly missedAfterMs: number;
  /** Decided with the lock, by the database's time. */
  readonly place: (now: Date) => Placement;
}

/**
 * Carries a rewrite out in a transaction of its own. Undefined also when it and another one each waited for content that
 * the other gave up, and this one had to yield; and when its media were looked at too long ago.
 */
export async function tryRewrite(sql: Sql, rewrite: Rewrite): Promise<PostRow | undefined> {
  try {
    return await sql.begin((tx) => rewritePost(tx, rewrite));
  } catch (error) {
    if (isDeadlock(error) || refusalOf(error) === MEDIA_USE_EXPIRED) return undefined;
    throw error;
  }
}

/**
 * Replaces a draft or scheduled post, its targets and all that they hold, or nothing of it: guards, slot and quota follow,
 * in this order. Undefined when the post is no longer the version that was seen; then it has to be judged again.
 *
 * @throws `duplicate_content`, `quota_exceeded`, `not_found`.
 */
async function rewritePost(tx: TransactionSql, rewrite: Rewrite): Promise<PostRow | undefined> {
  const { seen, input, known, limits } = rewrite;
  const post = await lockPost(tx, { workspaceId: seen.workspaceId, postId: seen.id });
  if (post === undefined) throw notFound();
  if (post.version !== seen.version) return undefined;
  const before = await lockTargetsOf(tx, [post]);
  const place = rewrite.place(post.now);
  const targets = planTargets(input, known.accounts, { before, dueAt: place.dueAt });
  await writeTargets(tx, rewrite, { post, place, before, targets });
  const keepsSlot = place.status === "scheduled" && isSameTime(place.scheduledAt, post.scheduledAt);
  if (!keepsSlot) await freeSlot(tx, post);
  const demands = changeOfDemands(
    demandsOf(post.workspaceId, before, limits),
    demandsOf(post.workspaceId, targets, limits),
  );
  await reserve(tx, post.workspaceId, demands);
  await replacePost(tx, {
    workspaceId: post.workspaceId,
    postId: post.postId,
    status: place.status,
    scheduledAt: place.scheduledAt,
    content: input.content,
    options: input.options,
    mediaIds: input.mediaIds,
    media: mediaOf(rewrite),
    platforms: [...new Set(targets.map(({ platform }) => platform))].toSorted(),
    startedAt: place.status === "publishing" ? post.now : null,
    queueSlotRuleId: keepsSlot ? post.queueSlotRuleId : null,
    notedAfter: known.now,
  });
  await appendEvents(tx, eventsOf(post, place, { targets, missedAfterMs: rewrite.missedAfterMs }));
  return await findPost(tx, post.workspaceId, post.postId);
}

function isSameTime(a: Date | null, b: Date | null): boolean {
  return a?.getTime() === b?.getTime();
}

/** Media says how an item looks now; what it does not know any more stays as it was seen. */
function mediaOf({ seen, input, known }: Rewrite) {
  const old = new Map(seen.mediaIds.map((id, index) => [id, seen.media[index]]));
  return input.mediaIds.flatMap((id) => {
    const item = known.media.get(id);
    return item === undefined ? (old.get(id) ?? []) : [toJson(MediaSchema, item)];
  });
}

/** Accounts that the post had already keep their target. What a draft would publish is compared with nothing. */
function planTargets(
  { content, options, mediaIds, accountIds }: PostInput,
  accounts: ReadonlyMap<string, PostAccount>,
  { before, dueAt }: { readonly before: readonly TargetRow[]; readonly dueAt: Date | null },
): readonly PlannedTarget[] {
  const ids = new Map(before.map(({ accountId, id }) => [accountId, id]));
  return accountIds.flatMap((accountId): PlannedTarget[] => {
    const account = accounts.get(accountId);
    if (account === undefined) return [];
    const { platform, username } = account;
    const target = { id: ids.get(accountId) ?? newId(), accountId, platform, username };
    if (dueAt === null) return [{ ...target, dueDay: null, contentHash: null }];
    const { text } = effectiveContent(content, options, target);
    return [{ ...target, dueDay: dayOf(dueAt), contentHash: contentHash(text, mediaIds) }];
  });
}

/** A target whose content stays keeps its guard: what was forced once is not compared again because of its time. */
async function writeTargets(
  tx: TransactionSql,
  { force, missedAfterMs }: Rewrite,
  change: {
    readonly post: CommandPost;
    readonly place: Placement;
    readonly before: readonly TargetRow[];
    readonly targets: readonly PlannedTarget[];
  },
): Promise<void> {
  const { post, before, targets } = change;
  const { dueAt } = change.place;
  const { workspaceId } = post;
  const old = new Map(before.map(({ id, contentHash: hash }) => [id, hash]));
  const changed = targets.filter(({ id, contentHash: hash }) => old.get(id) !== hash);
  await freeGuards(
    tx,
    changed.map(({ id }) => ({ workspaceId, targetId: id })),
  );
  const due =
    dueAt === null ? null : { dueAt, publishBefore: new Date(dueAt.getTime() + missedAfterMs) };
  await replaceTargets(tx, post, { targets, due });
  const guards = changed.flatMap(({ id, accountId, contentHash: hash }): Guard[] =>
    hash === null ? [] : [{ workspaceId, targetId: id, accountId, contentHash: hash }],
  );
  const clashing = await takeGuards(tx, guards, force);
  if (clashing.length > 0) throw (await explainDuplicates(tx, clashing)) ?? unavailable();
}

/** The targets of a post are due on one day. */
function demandsOf(
  workspaceId: string,
  targets: readonly Pick<PlannedTarget, "accountId" | "platform" | "dueDay">[],
  limits: QuotaLimits,
): QuotaDemand[] {
  const [first] = targets;
  if (first === undefined || first.dueDay === null) return [];
  const counted = targets.flatMap(({ accountId, platform }) =>
    isPlatformId(platform) ? [{ accountId, platform }] : [],
  );
  return quotaDemands(workspaceId, counted, new Date(first.dueDay), limits);
}

/** @throws `quota_exceeded` when a counter has no room; whatever was reserved goes with the transaction. */
export async function reserve(
  tx: TransactionSql,
  workspaceId: string,
  demands: readonly QuotaDemand[],
): Promise<void> {
  const short = await reserveQuota(tx, workspaceId, demands);
  if (short.length > 0) throw (await explainShortage(tx, workspaceId, short)) ?? unavailable();
}

function eventsOf(
  post: CommandPost,
  { status, scheduledAt, dueAt }: Placement,
  { targets, missedAfterMs }: { targets: readonly PlannedTarget[]; missedAfterMs: number },
) {
  const after = { workspaceId: post.workspaceId, postId: post.postId, version: post.version + 1 };
  if (status === "publishing" && dueAt !== null) {
    const publishBefore = new Date(dueAt.getTime() + missedAfterMs);
    const requested = targets.map((target) => ({ ...target, targetId: target.id, generation: 1 }));
    return [postPublishRequested({ ...after, dueAt, publishBefore, targets: requested })];
  }
  const isNew = post.status !== status || !isSameTime(scheduledAt, post.scheduledAt);
  return status === "scheduled" && scheduledAt !== null && isNew
    ? [postScheduled({ ...after, scheduledAt, occurredAt: post.now })]
    : [];
}
