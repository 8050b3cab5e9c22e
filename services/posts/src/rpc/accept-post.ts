import { create, toBinary } from "@bufbuild/protobuf";
import { PostSchema, type Post } from "@postrider/contracts/posts/v1/post_pb";
import { isPlatformId } from "@postrider/platforms/registry";
import { conflict, unavailable, type ServiceError } from "@postrider/shared/errors";
import type { ISql, Sql, TransactionSql } from "@postrider/shared/postgres";
import {
  findReplay,
  takeKeyOrReplay,
  type KeyedRequest,
} from "@postrider/shared/postgres/idempotency";
import { readClock } from "#src/db/clock.ts";
import type { Guard } from "#src/db/duplicate-guards.ts";
import { insertPost, type NewPost } from "#src/db/insert-post.ts";
import { MEDIA_USE_EXPIRED } from "#src/db/media-uses.ts";
import { lockActiveRules } from "#src/db/queue-slot-rules.ts";
import { refusalOf } from "#src/db/refusal.ts";
import { listTakenSlots } from "#src/db/slot-assignments.ts";
import { nextFreeSlots, type QueueSlot } from "#src/domain/next-slots.ts";
import { quotaDemands, type QuotaDemand, type QuotaLimits } from "#src/domain/quota.ts";
import { postPublishRequested, postScheduled } from "#src/events.ts";
import { toAcceptedPost } from "#src/rpc/build-post.ts";
import { explainDuplicates, explainShortage } from "#src/rpc/refusals.ts";

/** A checked request to accept a post. */
export interface Acceptable {
  readonly keyed: KeyedRequest | undefined;
  readonly force: boolean;
  readonly limits: QuotaLimits;
  /** The post to insert; with `queueSlot` it is made for the slot that it gets. */
  readonly build: (slot: QueueSlot | undefined) => NewPost;
  readonly queueSlot: boolean;
}

/** The post that was accepted, or what an earlier request with the same key was answered. */
export type Accepted =
  | { readonly post: NewPost; readonly answer: Post }
  | { readonly replay: Uint8Array };

/** A refusal whose reason is gone when it is looked at means: try again. More than once is rare, so often is a fault. */
const MAX_TRIES = 5;

/**
 * Accepts a post whole or not at all: with its guards, slot, quota, key and event, or nothing of it. Undefined when its
 * media have to be looked at again.
 */
export async function acceptPost(sql: Sql, request: Acceptable): Promise<Accepted | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const attempt: { post?: NewPost } = {};
    try {
      return await tryToAccept(sql, request, (post) => (attempt.post = post));
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === undefined || attempt.post === undefined) throw error;
      if (refusal === MEDIA_USE_EXPIRED) return undefined;
      const reason = await explain(sql, refusal, attempt.post, request.limits);
      if (reason !== undefined) throw reason;
    }
  }
  throw unavailable();
}

async function explain(
  sql: ISql,
  refusal: string,
  post: NewPost,
  limits: QuotaLimits,
): Promise<ServiceError | undefined> {
  if (refusal === "duplicate_content") return await explainDuplicates(sql, guardsOf(post));
  if (refusal === "quota_exceeded")
    return await explainShortage(sql, post.workspaceId, demandsOf(post, limits));
  return undefined;
}

async function tryToAccept(
  sql: Sql,
  request: Acceptable,
  onBuilt: (post: NewPost) => void,
): Promise<Accepted> {
  if (request.keyed === undefined && !request.queueSlot) {
    const post = request.build(undefined);
    onBuilt(post);
    await insert(sql, post, request);
    return { post, answer: create(PostSchema, toAcceptedPost(post)) };
  }
  return await sql.begin(async (tx) => {
    const slot = request.queueSlot ? await takeSlot(tx, request) : undefined;
    if (slot !== undefined && "replay" in slot) return slot;
    const post = request.build(slot);
    onBuilt(post);
    const answer = create(PostSchema, toAcceptedPost(post));
    if (request.keyed !== undefined) {
      const replay = await takeKeyOrReplay(tx, request.keyed, toBinary(PostSchema, answer));
      if (replay !== undefined) return { replay };
    }
    await insert(tx, post, request);
    return { post, answer };
  });
}

/**
 * The next free slot of the workspace, which nobody else is handed out before this transaction ends. The lock comes before
 * the request's key, because the answer that is stored with the key shows the slot; the key's holder never waits for it.
 */
async function takeSlot(
  tx: TransactionSql,
  { build, keyed, force }: Acceptable,
): Promise<QueueSlot | { readonly replay: Uint8Array }> {
  const { workspaceId, ...unplaced } = build(undefined);
  const rules = await lockActiveRules(tx, workspaceId);
  // Only now: the wait for the lock may have taken us past a slot.
  const after = await readClock(tx);
  const taken = await listTakenSlots(tx, workspaceId, after);
  const [slot] = nextFreeSlots(rules, { after, taken, count: 1 });
  if (slot !== undefined) return slot;
  const replay = keyed === undefined ? undefined : await findReplay(tx, keyed);
  if (replay !== undefined) return { replay };
  const guards = force ? [] : guardsOf({ workspaceId, ...unplaced });
  throw (await explainDuplicates(tx, guards)) ?? conflict("no_queue_slot");
}

async function insert(sql: ISql, post: NewPost, { force, limits }: Acceptable): Promise<void> {
  await insertPost(sql, post, { force, demands: demandsOf(post, limits), event: eventOf(post) });
}

function guardsOf({ workspaceId, targets }: NewPost): Guard[] {
  return targets.flatMap(({ id, accountId, contentHash }) =>
    contentHash === null ? [] : [{ workspaceId, targetId: id, accountId, contentHash }],
  );
}

function demandsOf({ workspaceId, due, targets }: NewPost, limits: QuotaLimits): QuotaDemand[] {
  if (due === null) return [];
  const counted = targets.flatMap(({ accountId, platform }) =>
    isPlatformId(platform) ? [{ accountId, platform }] : [],
  );
  return quotaDemands(workspaceId, counted, due.dueAt, limits);
}

function eventOf(post: NewPost) {
  const { workspaceId, id: postId, due, acceptedAt, scheduledAt } = post;
  const atVersion = { workspaceId, postId, version: 1 };
  if (post.status === "scheduled" && scheduledAt !== null)
    return postScheduled({ ...atVersion, scheduledAt, occurredAt: acceptedAt });
  if (post.status !== "publishing" || due === null) return undefined;
  const targets = post.targets.map(({ id, accountId, platform }) => ({
    targetId: id,
    accountId,
    platform,
    generation: 1,
  }));
  return postPublishRequested({ ...atVersion, ...due, targets });
}
