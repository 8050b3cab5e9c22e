import { appendDeed } from "@postrider/shared/audit/deeds";
import { conflict, notFound } from "@postrider/shared/errors";
import type { TransactionSql } from "@postrider/shared/postgres";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { failpoint } from "@postrider/shared/process/failpoints";
import { lockPost, type CommandPost } from "#src/db/command-posts.ts";
import { takeGuards, toGuards } from "#src/db/duplicate-guards.ts";
import { type PostRef, updatePosts } from "#src/db/posts.ts";
import { lockTargetsOf, updateTargets, type TargetRow } from "#src/db/targets.ts";
import { dueFrom } from "#src/domain/plan-post.ts";
import { findRefusal } from "#src/domain/post-status.ts";
import { dayOf, quotaDemands, type QuotaLimits } from "#src/domain/quota.ts";
import { firstPublishedAt, isRetryable, retryTarget } from "#src/domain/target.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { reserveQuotaOrThrow } from "#src/operations/explain-refusal.ts";
import { requestPublishing } from "#src/operations/publish-requests.ts";

export type RetryDeps = Pick<
  PostsDeps,
  "sql" | "workspaces" | "assertRoom" | "nudgeRelay" | "missedAfterMs"
>;

/** Which failed targets of a post are sent again; without both, all that can be. */
export interface RetriedTargets {
  readonly accountId?: string | undefined;
  readonly code?: string | undefined;
}

/**
 * Sends failed targets of a post again, and returns what `answer` makes of their number in the same
 * transaction. Published targets and those with an unknown outcome are never touched.
 */
export async function retryTargets<T>(
  deps: RetryDeps,
  { workspaceId, postId }: PostRef,
  only: RetriedTargets,
  answer: (tx: TransactionSql, count: number) => T | Promise<T>,
): Promise<T> {
  const [limits] = await Promise.all([deps.workspaces.findLimits(workspaceId), deps.assertRoom()]);
  const { missedAfterMs } = deps;
  const { result } = await beginInTurn(deps.sql, workspaceId, async (tx) => {
    const post = await lockPost(tx, { workspaceId, postId });
    if (post === undefined) throw notFound();
    const refusal = findRefusal(post.status, "retry");
    if (refusal !== undefined) throw conflict(refusal);
    const retried = await retryUnderLock(tx, post, { limits, missedAfterMs, only });
    const subject = { type: "post", id: postId } as const;
    await appendDeed(tx, { action: "post.retry", subject, workspaceId });
    return { result: await answer(tx, retried) };
  });
  failpoint("posts.after-retry-commit");
  deps.nudgeRelay();
  return result;
}

interface RetryOptions {
  readonly limits: QuotaLimits;
  readonly missedAfterMs: number;
  readonly only: RetriedTargets;
}

async function retryUnderLock(
  tx: TransactionSql,
  post: CommandPost,
  { limits, missedAfterMs, only: { accountId, code } }: RetryOptions,
): Promise<number> {
  const all = await lockTargetsOf(tx, [post]);
  const failed = all
    .filter(isRetryable)
    .filter((target) => accountId === undefined || target.accountId === accountId)
    .filter((target) => code === undefined || target.error?.code === code);
  if (failed.length === 0) throw nothingToRetry(all);
  const { workspaceId, postId, now } = post;
  const due = { ...dueFrom(now, missedAfterMs), dueDay: dayOf(now) };
  const retried = failed.map((target) => retryTarget(target, due));
  await updateTargets(tx, retried);
  // The user asked for this retry, so the post is published even if other posts have the same
  // content.
  await takeGuards(tx, toGuards(workspaceId, retried, now), true);
  const demands = quotaDemands(workspaceId, retried, now, limits);
  const exhausted = await reserveQuotaOrThrow(tx, { demands, now });
  const publishedAt = firstPublishedAt(all);
  await updatePosts(tx, [{ workspaceId, postId, status: "publishing", publishedAt }]);
  await requestPublishing(
    tx,
    retried.map((target) => ({ ...target, targetId: target.id })),
    exhausted,
  );
  return retried.length;
}

function nothingToRetry(targets: readonly TargetRow[]) {
  const unknown = targets
    .filter(({ status, error }) => status === "failed" && error?.code === "outcome_unknown")
    .toSorted((a, b) => a.ordinal - b.ordinal);
  return conflict(
    "nothing_to_retry",
    unknown.map(({ accountId, platform }) => ({ code: "outcome_unknown", accountId, platform })),
  );
}
