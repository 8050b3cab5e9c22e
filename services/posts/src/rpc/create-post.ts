import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { PostSchema, type Post } from "@postrider/contracts/posts/v1/post_pb";
import type {
  CreatePostRequest,
  CreatePostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { conflict, unavailable, unprocessable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import type { ISql, Sql, TransactionSql } from "@postrider/shared/postgres";
import { readClock } from "@postrider/shared/postgres/clock";
import { failpoint } from "@postrider/shared/process/failpoints";
import { releaseClaim, type MediaClaim } from "#src/clients/media.ts";
import { toGuards } from "#src/db/duplicate-guards.ts";
import { insertPost, InsertRefused, type NewPost } from "#src/db/insert-post.ts";
import { lockActiveRules } from "#src/db/queue-slot-rules.ts";
import { listTakenSlots } from "#src/db/slot-assignments.ts";
import { nextFreeSlots } from "#src/domain/next-slots.ts";
import { planNewPost, type ChosenTiming } from "#src/domain/plan-post.ts";
import { quotaDemands, type QuotaLimits } from "#src/domain/quota.ts";
import { possibleExhaustions, postPlaced } from "#src/events.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import {
  explainLimit,
  findDuplicateError,
  findShortageError,
  toRefused,
  type Refused,
} from "#src/operations/explain-refusal.ts";
import {
  judgePost,
  loadPostDependencies,
  toStoredMedia,
  type PostDependencies,
} from "#src/operations/judge-post.ts";
import { parseCreatePost, type NewPostRequest } from "#src/rpc/parse-post.ts";
import { toAcceptedPost } from "#src/rpc/to-post.ts";
import { findAcceptedPost, takeKeyForPost } from "#src/rpc/to-replayable-response.ts";

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

/** A CreatePost request whose post was checked, and the data from which the post is built. */
interface CheckedRequest {
  readonly request: NewPostRequest;
  readonly postId: string;
  readonly known: PostDependencies;
  readonly limits: QuotaLimits;
  readonly missedAfterMs: number;
}

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
      return await replayOr(deps.sql, request, unprocessable("validation_failed", violations));
    }
    const checked = { request, postId: claim.postId, known, limits, missedAfterMs };
    const outcome = await acceptPost(deps.sql, checked);
    if (outcome.kind !== "claim_expired") return outcome;
  }
  throw unavailable();
}

/** Returns the stored response if an earlier CreatePost request with the same idempotency key has succeeded. */
async function replayOr(
  sql: ISql,
  { keyed }: NewPostRequest,
  error: Refused["error"],
): Promise<Replayed | Refused> {
  const post = keyed === null ? undefined : await findAcceptedPost(sql, keyed);
  return post === undefined ? { kind: "refused", error } : { kind: "replayed", post };
}

async function acceptPost(sql: Sql, checked: CheckedRequest): Promise<Outcome | ClaimExpired> {
  for (let inserts = 0; inserts < MAX_INSERTS; inserts += 1) {
    const outcome = await tryToAccept(sql, checked);
    if (!(outcome instanceof InsertRefused)) return outcome;
    if (outcome.reason === "media_use_expired") return { kind: "claim_expired" };
    const explained = await explain(sql, outcome);
    if (explained.kind === "refused") return explained;
  }
  throw unavailable();
}

async function tryToAccept(sql: Sql, checked: CheckedRequest): Promise<Outcome | InsertRefused> {
  const { keyed, timing } = checked.request;
  try {
    return keyed === null && timing.kind !== "queue_slot"
      ? await acceptAtOnce(sql, checked, timing)
      : await sql.begin((tx) => acceptUnderLocks(tx, checked));
  } catch (error) {
    if (error instanceof InsertRefused) return error;
    return toRefused(await explainLimit(sql, checked.request.workspaceId, error));
  }
}

/** Inserts a post in one SQL statement without an explicit transaction, which saves two round trips. */
async function acceptAtOnce(
  sql: ISql,
  checked: CheckedRequest,
  timing: ChosenTiming,
): Promise<Accepted> {
  const accepted = build(checked, timing);
  await insert(sql, accepted.post, checked);
  return accepted;
}

/**
 * Inserts a post in a transaction. The queue slot is chosen before the idempotency key is written, because the response
 * that is stored with the key contains the slot.
 */
async function acceptUnderLocks(tx: TransactionSql, checked: CheckedRequest): Promise<Outcome> {
  const { keyed, timing } = checked.request;
  const chosen = timing.kind === "queue_slot" ? await chooseSlot(tx, checked) : timing;
  if (chosen.kind === "refused" || chosen.kind === "replayed") return chosen;
  const accepted = build(checked, chosen);
  if (keyed !== null) {
    const post = await takeKeyForPost(tx, keyed, accepted.answer);
    if (post !== undefined) return { kind: "replayed", post };
  }
  await insert(tx, accepted.post, checked);
  return accepted;
}

/** Chooses the next free queue slot. A lock on the queue-slot rules keeps other posts from taking the same slot. */
async function chooseSlot(
  tx: TransactionSql,
  checked: CheckedRequest,
): Promise<ChosenTiming | Replayed | Refused> {
  const { workspaceId, force } = checked.request;
  const rules = await lockActiveRules(tx, workspaceId);
  // The database's clock is read after the locks are taken: a queue slot may pass while the transaction waits.
  const after = await readClock(tx);
  const taken = await listTakenSlots(tx, workspaceId, after);
  const [slot] = nextFreeSlots(rules, { after, taken, count: 1 });
  if (slot !== undefined) return { kind: "chosen_slot", ...slot };
  const { post } = build(checked, { kind: "now" });
  const guards = force ? [] : toGuards(workspaceId, post.targets, post.due?.dueAt ?? null);
  const error = (await findDuplicateError(tx, guards)) ?? conflict("no_queue_slot");
  return await replayOr(tx, checked.request, error);
}

/** Builds the post that is inserted, and the answer to the request. */
function build(
  { request, postId, known, missedAfterMs }: CheckedRequest,
  timing: ChosenTiming,
): Accepted {
  const { workspaceId, content, options, mediaIds, createdVia } = request;
  const { now, media, accounts } = known;
  const post: NewPost = {
    id: postId,
    workspaceId,
    content,
    options,
    mediaIds,
    media: toStoredMedia(mediaIds, media),
    createdVia,
    acceptedAt: now,
    ...planNewPost(request, timing, { accounts, now, missedAfterMs, newId }),
  };
  return { kind: "accepted", post, answer: create(PostSchema, toAcceptedPost(post)) };
}

async function insert(
  sql: ISql,
  post: NewPost,
  { request, limits }: CheckedRequest,
): Promise<void> {
  const { workspaceId, id: postId, due, targets, acceptedAt: occurredAt } = post;
  const demands = due === null ? [] : quotaDemands(workspaceId, targets, due.dueAt, limits);
  const events = postPlaced({ ...post, postId, version: 1, occurredAt }, targets);
  const exhaustions = possibleExhaustions(demands, targets, occurredAt);
  await insertPost(sql, post, { force: request.force, demands, events, exhaustions });
}

/** Returns the error of a refused insert of a post, or `reason_gone` if the insert can be tried again. */
async function explain(
  sql: ISql,
  { reason, post, demands }: InsertRefused,
): Promise<Refused | { readonly kind: "reason_gone" }> {
  const { workspaceId, targets, due } = post;
  const error =
    reason === "duplicate_content"
      ? await findDuplicateError(sql, toGuards(workspaceId, targets, due?.dueAt ?? null))
      : await findShortageError(sql, workspaceId, reason === "quota_exceeded" ? demands : []);
  return error === undefined ? { kind: "reason_gone" } : { kind: "refused", error };
}
