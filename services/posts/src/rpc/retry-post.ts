import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RetryPostRequest,
  RetryPostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { conflict, notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { failpoint } from "@postrider/shared/process/failpoints";
import { lockPost, type CommandPost } from "#src/db/command-posts.ts";
import { takeGuards, toGuards } from "#src/db/duplicate-guards.ts";
import { findPost, updatePosts } from "#src/db/posts.ts";
import { lockTargetsOf, updateTargets, type TargetRow } from "#src/db/targets.ts";
import { dueFrom } from "#src/domain/plan-post.ts";
import { findRefusal } from "#src/domain/post-status.ts";
import { dayOf, quotaDemands, type QuotaLimits } from "#src/domain/quota.ts";
import { firstPublishedAt, isRetryable, retryTarget } from "#src/domain/target.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { reserveQuotaOrThrow } from "#src/operations/explain-refusal.ts";
import { requestPublishing } from "#src/operations/publish-requests.ts";
import { toLocale, toPost } from "#src/rpc/to-post.ts";

export async function retryPost(
  deps: Pick<PostsDeps, "sql" | "workspaces" | "assertRoom" | "nudgeRelay" | "missedAfterMs">,
  { workspaceId, id: postId, locale }: RetryPostRequest,
): Promise<MessageInitShape<typeof RetryPostResponseSchema>> {
  if (!isId(workspaceId) || !isId(postId)) throw notFound();
  const [limits] = await Promise.all([deps.workspaces.findLimits(workspaceId), deps.assertRoom()]);
  const { missedAfterMs } = deps;
  const row = await beginInTurn(deps.sql, workspaceId, async (tx) => {
    const post = await lockPost(tx, { workspaceId, postId });
    if (post === undefined) throw notFound();
    const refusal = findRefusal(post.status, "retry");
    if (refusal !== undefined) throw conflict(refusal);
    await retryUnderLock(tx, post, { limits, missedAfterMs });
    const subject = { type: "post", id: postId } as const;
    await appendDeed(tx, { action: "post.retry", subject, workspaceId });
    return await findPost(tx, workspaceId, postId);
  });
  if (row === undefined) throw notFound();
  failpoint("posts.after-retry-commit");
  deps.nudgeRelay();
  return { post: toPost(row, toLocale(locale)) };
}

async function retryUnderLock(
  tx: TransactionSql,
  post: CommandPost,
  { limits, missedAfterMs }: { readonly limits: QuotaLimits; readonly missedAfterMs: number },
): Promise<void> {
  const all = await lockTargetsOf(tx, [post]);
  const failed = all.filter(isRetryable);
  if (failed.length === 0) throw nothingToRetry(all);
  const { workspaceId, postId, now } = post;
  const due = { ...dueFrom(now, missedAfterMs), dueDay: dayOf(now) };
  const retried = failed.map((target) => retryTarget(target, due));
  await updateTargets(tx, retried);
  // The user asked for this retry, so the post is published even if other posts have the same
  // content.
  await takeGuards(tx, toGuards(workspaceId, retried, now), true);
  const demands = quotaDemands(workspaceId, retried, now, limits);
  const exhausted = await reserveQuotaOrThrow(tx, { workspaceId, demands, now });
  const publishedAt = firstPublishedAt(all);
  await updatePosts(tx, [{ workspaceId, postId, status: "publishing", publishedAt }]);
  await requestPublishing(
    tx,
    retried.map((target) => ({ ...target, targetId: target.id })),
    exhausted,
  );
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
