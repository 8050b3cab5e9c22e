import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import type {
  CreatePostRequest,
  CreatePostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { conflict, unavailable, unprocessable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import type { ISql } from "@postrider/shared/postgres";
import { isLockTimeout, keyInProgress } from "@postrider/shared/postgres/idempotency";
import { failpoint } from "@postrider/shared/process/failpoints";
import { releaseClaim, type MediaClaim } from "#src/clients/media.ts";
import { toGuards } from "#src/db/duplicate-guards.ts";
import type { NewPost } from "#src/db/new-post.ts";
import { findRefusalReason, type RefusalReason } from "#src/db/refusal.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import {
  explainLimit,
  findDuplicateError,
  findShortageError,
  toRefused,
  type Refused,
} from "#src/operations/explain-refusal.ts";
import { judgePost, loadPostDependencies } from "#src/operations/judge-post.ts";
import type { BuiltPost, InsertResult } from "#src/operations/post-inserts.ts";
import { parseCreatePost, type NewPostRequest } from "#src/rpc/parse-post.ts";
import { buildPost, toPendingPost, type CheckedRequest } from "#src/rpc/to-pending-post.ts";
import { findAcceptedPost } from "#src/rpc/to-replayable-response.ts";

/**
 * Maximum number of times that CreatePost checks a post before it fails as unavailable. A check is repeated when the
 * claim on media expired.
 */
const MAX_CHECKS = 2;
/**
 * Maximum number of times that CreatePost tries to insert a post before it fails as unavailable. A refused insert is
 * tried again when another post has just taken the queue slot, and when the duplicate post or the exceeded quota is
 * gone by now.
 */
const MAX_INSERTS = 5;

/**
 * Posts of a workspace that this process creates at the same time: two full batches of the gatherer. A workspace that sends more
 * at once waits, so that the work for its posts does not delay every step of the posts of others.
 */
const turns = new Semaphore({
  total: Infinity,
  perKey: 128,
  maxWaiting: Infinity,
  maxWaitMs: 5_000,
});

interface Accepted {
  readonly kind: "accepted";
  readonly post: NewPost;
  readonly answer: Post;
}

/** The response of an earlier CreatePost request with the same idempotency key. */
interface Replayed {
  readonly kind: "replayed";
  readonly post: Post;
}

/** Returned when the claim on the post's media is too old. Nothing was written; the media must be claimed again. */
interface ClaimExpired {
  readonly kind: "claim_expired";
}

type Outcome = Accepted | Replayed | Refused;

/**
 * Accepts a post as a whole or not at all. The post is published at once, scheduled, put into the next queue slot, or kept
 * as a draft.
 */
export async function createPost(
  deps: PostsDeps,
  message: CreatePostRequest,
): Promise<MessageInitShape<typeof CreatePostResponseSchema>> {
  const request = parseCreatePost(message);
  const { workspaceId } = request;
  using _turn = await turns.acquire({ key: workspaceId });
  // The id of the post is generated first, because the media service records it when the media are claimed.
  const claim = { workspaceId, postId: newId(), postVersion: 1, claimId: newId() };
  const outcome = await checkAndAccept(deps, request, claim).catch(toRefused);
  if (outcome.kind !== "accepted") await releaseClaim(deps.media, claim, request.mediaIds);
  if (outcome.kind === "refused") throw outcome.error;
  if (outcome.kind === "replayed") return { post: outcome.post, replayed: true };
  failpoint("posts.after-accept-commit");
  const { post, answer } = outcome;
  deps.nudgeRelay();
  if (post.status === "scheduled" && post.scheduledAt !== null)
    deps.nudgeScheduler(post.scheduledAt);
  return { post: answer, replayed: false };
}

async function checkAndAccept(
  deps: PostsDeps,
  request: NewPostRequest,
  claim: MediaClaim,
): Promise<Outcome> {
  const { missedAfterMs } = deps;
  for (let checks = 0; checks < MAX_CHECKS; checks += 1) {
    const [known, limits] = await Promise.all([
      loadPostDependencies(deps, request, claim),
      deps.workspaces.findLimits(request.workspaceId),
      deps.assertRoom(),
    ]);
    const violations = judgePost(request, known, request.timing);
    if (violations.length > 0) {
      const error = unprocessable("validation_failed", violations);
      return (await findReplayed(deps.sql, request)) ?? { kind: "refused", error };
    }
    const checked = { request, postId: claim.postId, known, limits, missedAfterMs };
    const outcome = await acceptPost(deps, checked);
    if (outcome.kind !== "claim_expired") return outcome;
  }
  throw unavailable();
}

/** Returns the stored response if an earlier CreatePost request with the same idempotency key has succeeded. */
async function findReplayed(sql: ISql, { keyed }: NewPostRequest): Promise<Replayed | undefined> {
  const post = keyed === null ? undefined : await findAcceptedPost(sql, keyed);
  return post === undefined ? undefined : { kind: "replayed", post };
}

async function acceptPost(
  deps: PostsDeps,
  checked: CheckedRequest,
): Promise<Outcome | ClaimExpired> {
  for (let inserts = 0; inserts < MAX_INSERTS; inserts += 1) {
    const result = await tryToInsert(deps, checked, inserts > 0);
    const outcome = await settle(deps.sql, checked, result);
    if (outcome.kind !== "try_again") return outcome;
  }
  throw unavailable();
}

/** Returned when a post was not inserted for a reason that may be gone. Nothing was written. */
interface TryAgain {
  readonly kind: "try_again";
}

/**
 * Inserts a post, at first together with others. After a refusal it is inserted alone, because it may be refused again; only then it
 * may use up a quota, because what its event says about the quota is seldom needed.
 */
async function tryToInsert(
  { inserts, sql }: Pick<PostsDeps, "inserts" | "sql">,
  checked: CheckedRequest,
  isAgain: boolean,
): Promise<InsertResult | Refused | TryAgain> {
  const { keyed, workspaceId } = checked.request;
  const pending = toPendingPost(checked, isAgain);
  try {
    return isAgain ? await inserts.submitAlone(pending) : await inserts.submit(pending);
  } catch (error) {
    if (keyed !== null && isLockTimeout(error)) throw keyInProgress();
    // Another transaction was first. The next statement sees what it has committed.
    if (findRefusalReason(error) !== undefined) return { kind: "try_again" };
    return toRefused(await explainLimit(sql, workspaceId, error));
  }
}

/**
 * Returns the outcome of a request after its post was inserted, or was not. The response to an earlier request with the same
 * idempotency key is read last, because that post may be the reason of the refusal.
 */
async function settle(
  sql: ISql,
  checked: CheckedRequest,
  result: InsertResult | Refused | TryAgain,
): Promise<Outcome | ClaimExpired | TryAgain> {
  if (result.kind === "refused" || result.kind === "try_again") return result;
  if (result.kind === "stored") return { kind: "accepted", ...result.built };
  const reason = await findReason(sql, checked, result);
  if (reason.kind !== "refused") return reason;
  return (await findReplayed(sql, checked.request)) ?? reason;
}

async function findReason(
  sql: ISql,
  checked: CheckedRequest,
  result: Exclude<InsertResult, { kind: "stored" }>,
): Promise<Refused | ClaimExpired | TryAgain> {
  if (result.kind === "no_slot") return await explainNoSlot(sql, checked);
  if (result.refusal === "key_taken") return { kind: "refused", error: keyInProgress() };
  if (result.refusal === "media_use_expired") return { kind: "claim_expired" };
  return await explain(sql, result.refusal, result.built);
}

/** Returns the error of a post for which no queue slot is free. */
async function explainNoSlot(sql: ISql, checked: CheckedRequest): Promise<Refused> {
  const { workspaceId, force } = checked.request;
  const { post } = buildPost(checked, { kind: "now" }, false);
  const guards = force ? [] : toGuards(workspaceId, post.targets, post.due?.dueAt ?? null);
  const error = (await findDuplicateError(sql, guards)) ?? conflict("no_queue_slot");
  return { kind: "refused", error };
}

/** Returns the error of a post that was not stored, or that the insert can be tried again. */
async function explain(
  sql: ISql,
  refusal: RefusalReason,
  { post, demands }: BuiltPost,
): Promise<Refused | TryAgain> {
  const { workspaceId, targets, due } = post;
  const error =
    refusal === "duplicate_content"
      ? await findDuplicateError(sql, toGuards(workspaceId, targets, due?.dueAt ?? null))
      : await findShortageError(sql, workspaceId, refusal === "quota_exceeded" ? demands : []);
  return error === undefined ? { kind: "try_again" } : { kind: "refused", error };
}
