import { appendDeed } from "@postrider/shared/audit/deeds";
import {
  conflict,
  notFound,
  ServiceError,
  unavailable,
  unprocessable,
  wrongStatus,
} from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import type { Sql, TransactionSql } from "@postrider/shared/postgres";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { releaseClaim, type MediaClaim } from "#src/clients/media.ts";
import { lockPost } from "#src/db/command-posts.ts";
import { findPost, findPostInTurn, type PostRef, type PostRow } from "#src/db/posts.ts";
import { findRefusalReason, isDeadlock } from "#src/db/refusal.ts";
import { placeUnpublishedPost, type ChangedTiming } from "#src/domain/plan-post.ts";
import { findRefusal, listStatusesFor } from "#src/domain/post-status.ts";
import type { PostContent, PostTiming } from "#src/domain/post.ts";
import type { QuotaLimits } from "#src/domain/quota.ts";
import type { PostsDeps } from "./dependencies.ts";
import { explainLimit } from "./explain-refusal.ts";
import {
  accountIdsOf,
  hasShortTexts,
  loadPostDependencies,
  validateAtOnce,
  validateRequest,
  type PostDependencies,
} from "./validate-request.ts";
import { writeUnpublishedPost } from "./write-unpublished-post.ts";

type Deps = Pick<
  PostsDeps,
  | "sql"
  | "accounts"
  | "platforms"
  | "media"
  | "clock"
  | "workspaces"
  | "assertRoom"
  | "missedAfterMs"
>;

/** The content fields of a post that an update replaces; an absent field keeps its value. */
export type ContentChanges = { readonly [K in keyof PostContent]?: PostContent[K] | undefined };

export interface PostCommand {
  readonly operation: "update" | "publish";
  /** The version that the post must have for the request to succeed; undefined for any version. */
  readonly ifVersion: bigint | undefined;
  /** Whether the post may be stored although another post has the same content. */
  readonly force: boolean;
  readonly changes: ContentChanges;
  readonly timing: ChangedTiming;
}

export interface PostChange {
  readonly kind: "changed";
  readonly before: PostRow;
  readonly after: PostRow;
}

/** Nothing was written: the post has changed so much that the data does not suffice any more. */
interface Outdated {
  readonly kind: "outdated";
}

/** What a request reads before it locks the post. */
interface Prepared {
  readonly command: PostCommand;
  readonly seen: PostRow;
  readonly known: PostDependencies;
  readonly limits: QuotaLimits;
  readonly missedAfterMs: number;
}

/**
 * Then the request fails as unavailable. A repetition is needed only if a concurrent request has
 * changed the post so much that the data does not suffice.
 */
const MAX_ROUNDS = 20;

/**
 * Other services are asked before the lock; the change is then applied to the current version and
 * checked under the lock. Concurrent requests for one post therefore run one after the other, and
 * each succeeds.
 */
export async function changeUnpublishedPost(
  deps: Deps,
  ref: PostRef,
  command: PostCommand,
): Promise<PostChange> {
  const claim = { workspaceId: ref.workspaceId, postId: ref.postId, claimId: newId() };
  try {
    return await changeInRounds(deps, claim, command);
  } catch (error) {
    // A `ServiceError` is only thrown before the commit.
    if (error instanceof ServiceError)
      await releaseClaim(deps.media, claim, command.changes.mediaIds ?? []);
    throw error;
  }
}

async function changeInRounds(
  deps: Deps,
  claim: Omit<MediaClaim, "postVersion">,
  command: PostCommand,
): Promise<PostChange> {
  const { workspaceId, postId } = claim;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const seen = await findPostInTurn(deps.sql, workspaceId, postId);
    if (seen === undefined) throw notFound();
    assertAllowed(seen, command);
    const content = { ...applyChanges(seen, command.changes), workspaceId };
    const [known, limits] = await Promise.all([
      loadPostDependencies(deps, content, { ...claim, postVersion: seen.version + 1 }),
      deps.workspaces.findLimits(workspaceId),
      deps.assertRoom(),
    ]);
    // Long texts are counted here, because under the lock nothing may wait for the slices of other
    // requests.
    if (!hasShortTexts(content))
      await validateRequest(content, known, validatedTiming(seen, command.timing));
    const { missedAfterMs } = deps;
    const outcome = await tryToChange(deps.sql, { command, seen, known, limits, missedAfterMs });
    if (outcome.kind === "changed") return outcome;
  }
  throw unavailable();
}

/** Two requests that swap the contents of two posts may deadlock; the aborted one tries again. */
async function tryToChange(sql: Sql, prepared: Prepared): Promise<PostChange | Outdated> {
  try {
    return await beginInTurn(sql, prepared.seen.workspaceId, (tx) => changeUnderLock(tx, prepared));
  } catch (error) {
    if (isDeadlock(error) || findRefusalReason(error) === "media_use_expired")
      return { kind: "outdated" };
    throw await explainLimit(sql, prepared.seen.workspaceId, error);
  }
}

/** @throws `validation_failed`, `duplicate_content`, `quota_exceeded`; nothing is written then. */
async function changeUnderLock(
  tx: TransactionSql,
  prepared: Prepared,
): Promise<PostChange | Outdated> {
  const { command, seen, known, limits, missedAfterMs } = prepared;
  const lock = await lockPost(tx, { workspaceId: seen.workspaceId, postId: seen.id });
  if (lock === undefined) throw notFound();
  const before = lock.version === seen.version ? seen : await getPost(tx, seen);
  assertAllowed(before, command);
  const content = applyChanges(before, command.changes);
  const timing = validatedTiming(before, command.timing);
  const isKnown = timing.kind === "draft" || isCounted(content, prepared);
  if (!isKnown || !isCovered(content, before, prepared)) return { kind: "outdated" };
  const violations = validateAtOnce(content, known, timing);
  if (violations.length > 0) throw unprocessable("validation_failed", violations);
  const { now } = lock;
  const placement = placeUnpublishedPost(before, command.timing, { now, missedAfterMs });
  const { force } = command;
  await writeUnpublishedPost(tx, before, { content, placement, known, limits, force, now });
  const { status } = placement;
  const { id, workspaceId } = before;
  const details = { status, changed: Object.keys(command.changes) };
  const subject = { type: "post", id } as const;
  await appendDeed(tx, { action: `post.${command.operation}`, subject, workspaceId, details });
  return { kind: "changed", before, after: await getPost(tx, before) };
}

async function getPost(tx: TransactionSql, { workspaceId, id }: PostRow): Promise<PostRow> {
  const post = await findPost(tx, workspaceId, id);
  if (post === undefined) throw notFound();
  return post;
}

function assertAllowed(post: PostRow, { operation, ifVersion }: PostCommand): void {
  if (ifVersion !== undefined && ifVersion !== BigInt(post.version))
    throw conflict("precondition_failed");
  const refusal = findRefusal(post.status, operation);
  if (refusal !== undefined) throw wrongStatus(post.status, listStatusesFor(operation), refusal);
}

function applyChanges(post: PostRow, changes: ContentChanges): PostContent {
  return {
    content: changes.content ?? post.content,
    accountIds: changes.accountIds ?? post.targets.map(({ accountId }) => accountId),
    mediaIds: changes.mediaIds ?? post.mediaIds,
    options: changes.options ?? post.options,
  };
}

/**
 * For an earlier version. With a newer version, new media must be claimed again: the claim names an
 * outdated version, and the media service may already have dropped it.
 */
function isCovered(content: PostContent, post: PostRow, { command, seen, known }: Prepared) {
  if (post.version === seen.version) return true;
  const lookedUp = new Set(accountIdsOf(applyChanges(seen, command.changes)));
  return (
    accountIdsOf(content).every((id) => lookedUp.has(id)) &&
    content.mediaIds.every((id) => known.media.has(id) && post.mediaIds.includes(id))
  );
}

/**
 * Before the lock, or short enough for it: long texts are counted in slices, between which other
 * requests are answered, and the lock would be held meanwhile.
 */
function isCounted(content: PostContent, { command, seen }: Prepared): boolean {
  if (hasShortTexts(content)) return true;
  if (validatedTiming(seen, command.timing).kind === "draft") return false;
  const textsOf = (post: PostContent) => JSON.stringify([post.content, post.options]);
  return textsOf(content) === textsOf(applyChanges(seen, command.changes));
}

/** An unchanged time is not checked again, so that a post can be changed just before it is due. */
function validatedTiming(post: PostRow, timing: ChangedTiming): PostTiming {
  if (timing.kind !== "unchanged") return timing;
  return post.status === "draft"
    ? { kind: "draft", scheduledAt: post.scheduledAt }
    : { kind: "now" };
}
