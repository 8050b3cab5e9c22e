import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RetryPostRequest,
  RetryPostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { isPlatformId } from "@postrider/platforms/registry";
import { conflict, notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import { lockPost, type CommandPost } from "#src/db/command-posts.ts";
import { takeGuards, type Guard } from "#src/db/duplicate-guards.ts";
import { findPost, updatePosts, type PostRow } from "#src/db/posts.ts";
import { lockTargetsOf, updateTargets, type TargetRow } from "#src/db/targets.ts";
import { dayOf, quotaDemands, type QuotaLimits } from "#src/domain/quota.ts";
import { isRetryable, retryTarget } from "#src/domain/retry.ts";
import { findRefusal } from "#src/domain/transitions.ts";
import { requestPublishing } from "#src/operations/publish-requests.ts";
import type { PostServiceDeps } from "#src/rpc/post-service.ts";
import { reserve } from "#src/rpc/rewrite-post.ts";
import { toPost } from "#src/rpc/to-post.ts";

/** What a retry is decided by besides the post. */
interface Terms {
  readonly limits: QuotaLimits;
  readonly missedAfterMs: number;
}

/** Sends the definitely failed targets again. Everything is decided under the locks of the post and its targets. */
export async function retryPost(
  deps: PostServiceDeps,
  { workspaceId, id: postId }: RetryPostRequest,
): Promise<MessageInitShape<typeof RetryPostResponseSchema>> {
  if (!isId(workspaceId) || !isId(postId)) throw notFound();
  const [limits] = await Promise.all([deps.workspaces.findLimits(workspaceId), deps.assertRoom()]);
  const { missedAfterMs } = deps;
  const row = await deps.sql.begin(async (tx) => {
    const post = await lockPost(tx, { workspaceId, postId });
    if (post === undefined) throw notFound();
    const refusal = findRefusal(post.status, "retry");
    if (refusal !== undefined) throw conflict(refusal);
    return await retryUnderLock(tx, post, { limits, missedAfterMs });
  });
  if (row === undefined) throw notFound();
  failpoint("posts.after-retry-commit");
  deps.nudgeRelay();
  return { post: toPost(row) };
}

async function retryUnderLock(
  tx: TransactionSql,
  post: CommandPost,
  { limits, missedAfterMs }: Terms,
): Promise<PostRow | undefined> {
  const all = await lockTargetsOf(tx, [post]);
  const failed = all.filter(isRetryable);
  if (failed.length === 0) throw nothingToRetry(all);
  const { workspaceId, postId, now } = post;
  const publishBefore = new Date(now.getTime() + missedAfterMs);
  const due = { dueAt: now, publishBefore, dueDay: dayOf(now) };
  const retried = failed.map((target) => retryTarget(target, due));
  await updateTargets(tx, retried);
  // A retry is asked for by a person who sees the post: other posts with the same content do not forbid it.
  await takeGuards(tx, retried.flatMap(toGuard), true);
  const counted = retried.flatMap(({ accountId, platform }) =>
    isPlatformId(platform) ? [{ accountId, platform }] : [],
  );
  await reserve(tx, workspaceId, quotaDemands(workspaceId, counted, now, limits));
  const publishedAt = firstPublishedAt(all);
  await updatePosts(tx, [{ workspaceId, postId, status: "publishing", publishedAt }]);
  await requestPublishing(
    tx,
    retried.map((target) => ({ ...target, targetId: target.id })),
  );
  return await findPost(tx, workspaceId, postId);
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

function toGuard({ workspaceId, id, accountId, contentHash }: TargetRow): Guard[] {
  return contentHash === null ? [] : [{ workspaceId, targetId: id, accountId, contentHash }];
}

function firstPublishedAt(targets: readonly TargetRow[]): Date | null {
  const times = targets.flatMap(({ publishedAt }) => publishedAt?.getTime() ?? []);
  return times.length === 0 ? null : new Date(Math.min(...times));
}
