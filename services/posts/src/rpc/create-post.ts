import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import type {
  CreatePostRequest,
  CreatePostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { conflict, ServiceError, unavailable, unprocessable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import type { ISql } from "@postrider/shared/postgres";
import { isLockTimeout, keyInProgress } from "@postrider/shared/postgres/idempotency";
import { failpoint } from "@postrider/shared/process/failpoints";
import { releaseClaim, type MediaClaim } from "#src/clients/media.ts";
import { toGuards } from "#src/db/duplicate-guards.ts";
import type { PostRequest } from "#src/db/new-post.ts";
import { findRefusalReason } from "#src/db/refusal.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import {
  explainLimit,
  findDuplicateError,
  findShortageError,
} from "#src/operations/explain-refusal.ts";
import type { BuiltPost, InsertResult } from "#src/operations/post-inserts.ts";
import { loadPostDependencies, validateRequest } from "#src/operations/validate-request.ts";
import { parseCreatePost } from "#src/rpc/parse-post.ts";
import { findAcceptedPost } from "#src/rpc/to-keyed-response.ts";
import { planPost, toPendingPost, type PlannedPost } from "#src/rpc/to-pending-post.ts";

/** A validation is repeated when the claim on media expired. */
const MAX_VALIDATIONS = 2;
/**
 * Then CreatePost fails as unavailable. An insert is repeated when another post took the slot, or
 * when the duplicate or the exceeded quota is gone by now.
 */
const MAX_INSERTS = 5;

/**
 * Two full batches of the gatherer. A workspace that sends more waits, so that its posts do not
 * delay every step of the posts of others.
 */
const turns = new Semaphore({
  total: Infinity,
  perKey: 128,
  maxWaiting: Infinity,
  maxWaitMs: 5_000,
});

/** `replayed`: the response of an earlier request with the same idempotency key. */
type Outcome =
  | { readonly kind: "accepted"; readonly built: BuiltPost }
  | { readonly kind: "replayed"; readonly post: Post };

/** Nothing was written; the media must be claimed again. */
interface ClaimExpired {
  readonly kind: "claim_expired";
}

/** As a whole or not at all. */
export async function createPost(
  deps: PostsDeps,
  message: CreatePostRequest,
): Promise<MessageInitShape<typeof CreatePostResponseSchema>> {
  const request = parseCreatePost(message);
  const { workspaceId } = request;
  using _turn = await turns.acquire({ key: workspaceId });
  // The id of the post is generated first, because the media service records it when the media are
  // claimed.
  const claim = { workspaceId, postId: newId(), postVersion: 1, claimId: newId() };
  const outcome = await accept(deps, request, claim);
  if (outcome.kind === "replayed") return { post: outcome.post, replayed: true };
  failpoint("posts.after-accept-commit");
  const { post, answer } = outcome.built;
  deps.nudgeRelay();
  if (post.status === "scheduled" && post.scheduledAt !== null)
    deps.nudgeScheduler(post.scheduledAt);
  return { post: answer, replayed: false };
}

/** Validates and inserts a post. Releases its media if it was certainly not inserted. */
async function accept(deps: PostsDeps, request: PostRequest, claim: MediaClaim): Promise<Outcome> {
  const release = () => releaseClaim(deps.media, claim, request.mediaIds);
  try {
    const outcome = await validateAndInsert(deps, request, claim);
    if (outcome.kind === "replayed") await release();
    return outcome;
  } catch (error) {
    // A `ServiceError` is only thrown before the commit.
    if (error instanceof ServiceError) await release();
    throw error;
  }
}

async function validateAndInsert(
  deps: PostsDeps,
  request: PostRequest,
  claim: MediaClaim,
): Promise<Outcome> {
  const { postId } = claim;
  const { missedAfterMs } = deps;
  for (let validations = 0; validations < MAX_VALIDATIONS; validations += 1) {
    const [known, limits] = await Promise.all([
      loadPostDependencies(deps, request, claim),
      deps.workspaces.findLimits(request.workspaceId),
      deps.assertRoom(),
    ]);
    const violations = await validateRequest(request, known, request.timing);
    if (violations.length > 0)
      return await replayOrRefuse(
        deps.sql,
        request,
        unprocessable("validation_failed", violations),
      );
    const planned = planPost({ request, postId, known, limits, missedAfterMs });
    const outcome = await insertPost(deps, planned);
    if (outcome.kind !== "claim_expired") return outcome;
  }
  throw unavailable();
}

/**
 * An earlier request with the same idempotency key may be the reason of the refusal. Throws the
 * given error if there was none.
 */
async function replayOrRefuse(
  sql: ISql,
  { keyed }: PostRequest,
  refusal: ServiceError,
): Promise<Outcome> {
  const post = keyed === null ? undefined : await findAcceptedPost(sql, keyed);
  if (post === undefined) throw refusal;
  return { kind: "replayed", post };
}

async function insertPost(deps: PostsDeps, planned: PlannedPost): Promise<Outcome | ClaimExpired> {
  for (let inserts = 0; inserts < MAX_INSERTS; inserts += 1) {
    const result = await tryToInsert(deps, planned, inserts > 0);
    if (result === undefined) continue;
    if (result.refusal === null) return { kind: "accepted", built: result.built };
    if (result.refusal === "media_use_expired") return { kind: "claim_expired" };
    const error = await explain(deps.sql, planned, result);
    if (error !== undefined) return await replayOrRefuse(deps.sql, planned.request, error);
  }
  throw unavailable();
}

/**
 * First with others; after a refusal alone, and only then it may use up a quota, because its event
 * must say so. Undefined if another transaction was first: the next statement sees what it
 * committed.
 */
async function tryToInsert(
  { inserts, sql }: Pick<PostsDeps, "inserts" | "sql">,
  planned: PlannedPost,
  isAgain: boolean,
): Promise<InsertResult | undefined> {
  const { keyed, workspaceId } = planned.request;
  const pending = toPendingPost(planned, isAgain);
  try {
    return isAgain ? await inserts.submitAlone(pending) : await inserts.submit(pending);
  } catch (error) {
    if (keyed !== null && isLockTimeout(error)) throw keyInProgress();
    if (findRefusalReason(error) !== undefined) return undefined;
    throw await explainLimit(sql, workspaceId, error);
  }
}

/** Returns the error of a post that was not stored; undefined if the reason is gone. */
async function explain(
  sql: ISql,
  { request, targets, known }: PlannedPost,
  result: Exclude<InsertResult, { refusal: null }>,
): Promise<ServiceError | undefined> {
  const { workspaceId, force } = request;
  // `replayOrRefuse` gives the first answer instead if it is committed by then.
  if (result.refusal === "key_taken") return keyInProgress();
  if (result.refusal === "no_slot") {
    const guards = force ? [] : toGuards(workspaceId, targets, known.now);
    return (await findDuplicateError(sql, guards)) ?? conflict("no_queue_slot");
  }
  const { due, demands } = result.built.post;
  if (result.refusal === "duplicate_content")
    return await findDuplicateError(sql, toGuards(workspaceId, targets, due?.dueAt ?? null));
  return await findShortageError(sql, result.refusal === "quota_exceeded" ? demands : []);
}
