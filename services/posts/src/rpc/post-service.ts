import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetPostsRequest,
  BatchGetPostsResponseSchema,
  BatchGetPostStatusesRequest,
  BatchGetPostStatusesResponseSchema,
  GetPostRequest,
  GetPostResponseSchema,
  PublishPostRequest,
  PublishPostResponseSchema,
  RecordTargetMetricsRequest,
  RecordTargetMetricsResponseSchema,
  RetryPostRequest,
  RetryPostResponseSchema,
  ValidatePostRequest,
  ValidatePostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { invalidRequest, notFound, unprocessable } from "@postrider/shared/errors";
import { assertIds, isId } from "@postrider/shared/ids";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { failpoint } from "@postrider/shared/process/failpoints";
import { listPostsUpTo } from "#src/db/list-posts-up-to.ts";
import { listPostStatuses } from "#src/db/post-summaries.ts";
import { findPost, findPostInTurn, listPostsByRefs, type PostRow } from "#src/db/posts.ts";
import { applyTargetMetrics } from "#src/operations/apply-target-metrics.ts";
import { changeUnpublishedPost } from "#src/operations/change-unpublished-post.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { type RetryDeps, retryTargets } from "#src/operations/retry-targets.ts";
import { loadPostDependencies, validateRequest } from "#src/operations/validate-request.ts";
import { parseValidatePost } from "#src/rpc/parse-post.ts";
import { toLocale, toPost } from "#src/rpc/to-post.ts";

export async function getPost(
  { sql }: Pick<PostsDeps, "sql">,
  { workspaceId, id, locale }: GetPostRequest,
): Promise<MessageInitShape<typeof GetPostResponseSchema>> {
  if (!isId(workspaceId) || !isId(id)) throw notFound();
  const row = await findPostInTurn(sql, workspaceId, id);
  if (row === undefined) throw notFound();
  return { post: toPost(row, toLocale(locale)) };
}

type Response = MessageInitShape<typeof BatchGetPostsResponseSchema>;

/** Too large posts are left to a further call. Posts of other workspaces are missing. */
export async function batchGetPosts(
  { sql }: Pick<PostsDeps, "sql">,
  { refs, maxBytes, locale }: BatchGetPostsRequest,
): Promise<Response> {
  const toPosts = (rows: readonly PostRow[]) => rows.map((row) => toPost(row, toLocale(locale)));
  const wanted = refs.flatMap(({ workspaceId, id }, index) =>
    isId(workspaceId) && isId(id) ? [{ workspaceId, postId: id, index }] : [],
  );
  if (wanted.length === 0) return { posts: [] };
  if (maxBytes <= 0 || wanted.length === 1)
    return { posts: toPosts(await listPostsByRefs(sql, wanted)) };
  const batch = await listPostsUpTo(sql, wanted, maxBytes);
  const posts = toPosts(batch.posts);
  const deferred = wanted[batch.deferredFrom ?? wanted.length];
  return deferred === undefined ? { posts } : { posts, deferredFrom: deferred.index };
}

const MAX_REFS = 1_000;

/** A post of another workspace is missing, like one that does not exist. */
export async function batchGetPostStatuses(
  { sql }: Pick<PostsDeps, "sql">,
  { refs }: BatchGetPostStatusesRequest,
): Promise<MessageInitShape<typeof BatchGetPostStatusesResponseSchema>> {
  if (refs.length > MAX_REFS)
    throw invalidRequest([
      { code: "too_many_items", path: "/refs", limit: MAX_REFS, actual: refs.length },
    ]);
  const known = refs.filter(({ workspaceId, id }) => isId(workspaceId) && isId(id));
  if (known.length === 0) return { statuses: [] };
  const rows = await listPostStatuses(
    sql,
    known.map(({ workspaceId, id }) => ({ workspaceId, postId: id })),
  );
  return {
    statuses: rows.map(({ workspaceId, postId, status }) => ({
      ref: { workspaceId, id: postId },
      status,
    })),
  };
}

export async function publishPost(
  deps: PostsDeps,
  { workspaceId, id: postId, force, ifVersion }: PublishPostRequest,
): Promise<MessageInitShape<typeof PublishPostResponseSchema>> {
  assertIds(workspaceId, postId);
  const change = await changeUnpublishedPost(
    deps,
    { workspaceId, postId },
    { operation: "publish", ifVersion, force, changes: {}, timing: { kind: "now" } },
  );
  failpoint("posts.after-publish-commit");
  deps.nudgeRelay();
  return { post: toPost(change.after) };
}

export async function retryPost(
  deps: RetryDeps,
  { workspaceId, id: postId, locale }: RetryPostRequest,
): Promise<MessageInitShape<typeof RetryPostResponseSchema>> {
  assertIds(workspaceId, postId);
  const row = await retryTargets(deps, { workspaceId, postId }, {}, (tx) =>
    findPost(tx, workspaceId, postId),
  );
  if (row === undefined) throw notFound();
  return { post: toPost(row, toLocale(locale)) };
}

/** A client that requested metrics finds them in the post at once. */
export async function recordTargetMetrics(
  { sql }: Pick<PostsDeps, "sql">,
  { workspaceId, postId, targets, locale }: RecordTargetMetricsRequest,
): Promise<MessageInitShape<typeof RecordTargetMetricsResponseSchema>> {
  if (![workspaceId, postId, ...targets.map(({ targetId }) => targetId)].every(isId))
    throw notFound();
  const reports = targets.map(({ targetId, metrics }) => ({
    workspaceId,
    postId,
    targetId,
    metrics,
  }));
  await beginInTurn(sql, workspaceId, (tx) => applyTargetMetrics(tx, reports));
  // After the commit: a large post takes long to read, and reports about it wait for its lock.
  const row = await findPostInTurn(sql, workspaceId, postId);
  if (row === undefined) throw notFound();
  return { post: toPost(row, toLocale(locale)) };
}

/**
 * Stores nothing. Only CreatePost checks duplicates, slots and quota, which other posts may take
 * until then.
 */
export async function validatePost(
  deps: Pick<PostsDeps, "accounts" | "platforms" | "media" | "clock">,
  request: ValidatePostRequest,
): Promise<MessageInitShape<typeof ValidatePostResponseSchema>> {
  const post = parseValidatePost(request);
  const known = await loadPostDependencies(deps, post, null);
  const violations = await validateRequest(post, known, post.timing);
  if (violations.length > 0) throw unprocessable("validation_failed", violations);
  const targets = post.accountIds.flatMap((accountId) => {
    const account = known.accounts.get(accountId);
    return account === undefined ? [] : [{ accountId, platform: account.platform }];
  });
  const { scheduledAt } = request;
  return { targets, ...(scheduledAt === undefined ? {} : { scheduledAt }) };
}
