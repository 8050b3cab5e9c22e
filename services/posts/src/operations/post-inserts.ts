import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import { unavailable } from "@postrider/shared/errors";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { isInfrastructureError, type ISql, type Sql } from "@postrider/shared/postgres";
import { isLockTimeout } from "@postrider/shared/postgres/idempotency";
import { insertPosts, type InsertRefusal } from "#src/db/insert-posts.ts";
import type { NewPost, PostRecords } from "#src/db/new-post.ts";
import { lockActiveRules } from "#src/db/queue-slot-rules.ts";
import { isDeadlock, isRefused } from "#src/db/refusal.ts";
import { isSlotFree } from "#src/db/slot-assignments.ts";
import type { QueueSlot } from "#src/domain/next-slots.ts";
import { findNextSlot, type FoundSlot } from "#src/operations/find-free-slots.ts";
import { Gatherer, type Gatherable } from "#src/operations/gatherer.ts";

export interface BuiltPost {
  readonly post: NewPost;
  readonly answer: Post;
  readonly records: PostRecords;
}

/** A post to insert. A post for the next free queue slot is built when its slot is known. */
export interface PendingPost extends Gatherable {
  readonly workspaceId: string;
  readonly source: BuiltPost | ((slot: QueueSlot) => BuiltPost);
}

/** `no_slot`: no queue slot is free, or the one that was found is not free any more. */
export type InsertResult =
  | { readonly refusal: null; readonly built: BuiltPost }
  | { readonly refusal: InsertRefusal; readonly built: BuiltPost }
  | { readonly refusal: "no_slot" };

export interface PostInserts {
  /** In the order in which they arrive, many with one statement and one commit. */
  readonly submit: (post: PendingPost) => Promise<InsertResult>;
  readonly submitAlone: (post: PendingPost) => Promise<InsertResult>;
}

interface ReadyPost extends Gatherable {
  readonly workspaceId: string;
  readonly built: BuiltPost;
  readonly found?: FoundSlot;
}

/** One post of a workspace at a time: the next search would find the same slot. */
const SEARCHES = { total: Infinity, perKey: 1, maxWaiting: Infinity, maxWaitMs: 10_000 };
/** How often a slot is searched again because another replica was first or a rule has changed. */
const MAX_SEARCHES = 20;
const NO_SLOT = { refusal: "no_slot" } as const;

/**
 * A post for a queue slot is inserted alone. Its slot is searched before the transaction, because a
 * long search waits for the work of other requests. Under the lock it is only compared.
 */
export function createPostInserts(sql: Sql): PostInserts {
  const gatherer = new Gatherer<ReadyPost, InsertResult>({
    handle: (ready) => insertReady(sql, ready),
    isOfItem: (error) =>
      isRefused(error) ||
      isLockTimeout(error) ||
      // Large responses and large posts of several workspaces are counted in two rounds, so their
      // locks have no common order.
      isDeadlock(error) ||
      !isInfrastructureError(error),
  });
  const searches = new Semaphore(SEARCHES);
  const insert = async (
    { source, ...post }: PendingPost,
    road: "submit" | "submitAlone",
  ): Promise<InsertResult> => {
    if (typeof source !== "function") return await gatherer[road]({ ...post, built: source });
    using _turn = await searches.acquire({ key: post.workspaceId });
    for (let count = 0; count < MAX_SEARCHES; count += 1) {
      const found = await findNextSlot(sql, post.workspaceId);
      if (found === undefined) return NO_SLOT;
      const result = await gatherer.submitAlone({ ...post, built: source(found.slot), found });
      if (result.refusal !== "no_slot") return result;
    }
    throw unavailable();
  };
  return {
    submit: (post) => insert(post, "submit"),
    submitAlone: (post) => insert(post, "submitAlone"),
  };
}

async function insertReady(
  sql: Sql,
  ready: readonly ReadyPost[],
): Promise<readonly InsertResult[]> {
  const [post] = ready;
  if (post?.found !== undefined) return await insertAtSlot(sql, post, post.found);
  return await insertBuilt(
    sql,
    ready.map(({ built }) => built),
  );
}

/** Locks on the rules keep other posts from the same slot. */
async function insertAtSlot(
  sql: Sql,
  { workspaceId, built }: ReadyPost,
  { slot, rules }: FoundSlot,
): Promise<readonly InsertResult[]> {
  return await sql.begin(async (tx) => {
    const isSame = await lockActiveRules(tx, workspaceId, rules);
    // A slot may pass while the transaction waits.
    const isFree = isSame && (await isSlotFree(tx, workspaceId, slot));
    return isFree ? await insertBuilt(tx, [built]) : [NO_SLOT];
  });
}

async function insertBuilt(
  sql: ISql,
  built: readonly BuiltPost[],
): Promise<readonly InsertResult[]> {
  const refusals = await insertPosts(
    sql,
    built.map(({ records }) => records),
  );
  return built.map((each, index) => ({ refusal: refusals[index] ?? null, built: each }));
}
