import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import { unavailable } from "@postrider/shared/errors";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { isInfrastructureError, type ISql, type Sql } from "@postrider/shared/postgres";
import { isLockTimeout } from "@postrider/shared/postgres/idempotency";
import { insertPosts, type InsertRefusal } from "#src/db/insert-posts.ts";
import type { NewPost, PostRecords } from "#src/db/new-post.ts";
import { lockActiveRules } from "#src/db/queue-slot-rules.ts";
import { isDeadlock, isRefused } from "#src/db/refusal.ts";
import { findFreeSlot } from "#src/db/slot-assignments.ts";
import type { QueueSlot } from "#src/domain/next-slots.ts";
import { findNextSlots, type FoundSlots } from "#src/operations/find-free-slots.ts";
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

/** `no_slot`: no queue slot is free. */
export type InsertResult =
  | { readonly refusal: null; readonly built: BuiltPost }
  | { readonly refusal: InsertRefusal; readonly built: BuiltPost }
  | { readonly refusal: "no_slot" };

export interface PostInserts {
  /** In the order in which they arrive, many with one statement and one commit. */
  readonly submit: (post: PendingPost) => Promise<InsertResult>;
  readonly submitAlone: (post: PendingPost) => Promise<InsertResult>;
}

/** A post that is built when one of the slots is chosen. */
interface SlotChoice extends FoundSlots {
  readonly workspaceId: string;
  readonly build: (slot: QueueSlot) => BuiltPost;
}

interface ReadyPost extends Gatherable {
  readonly source: BuiltPost | SlotChoice;
}

/** One post of a workspace at a time: the next search would find the same slots. */
const SEARCHES = { total: Infinity, perKey: 1, maxWaiting: Infinity, maxWaitMs: 10_000 };
/** How often slots are searched because a rule has changed since the last search. */
const MAX_SEARCHES = 20;
const NO_SLOT = { refusal: "no_slot" } as const;

/**
 * A post for a queue slot is inserted alone. The next slots are searched before the transaction,
 * because a long search waits for the work of other requests. Under the locks the first that no
 * other replica has taken meanwhile is chosen.
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
    { source: build, ...post }: PendingPost,
    road: "submit" | "submitAlone",
  ): Promise<InsertResult> => {
    if (typeof build !== "function") return await gatherer[road]({ ...post, source: build });
    const { workspaceId } = post;
    using _turn = await searches.acquire({ key: workspaceId });
    for (let count = 0; count < MAX_SEARCHES; count += 1) {
      const found = await findNextSlots(sql, workspaceId);
      if (found.slots.length === 0) return NO_SLOT;
      const source = { ...found, workspaceId, build };
      const result = await gatherer.submitAlone({ ...post, source });
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
  const sources = ready.map(({ source }) => source);
  const choice = sources.find((source) => "build" in source);
  if (choice !== undefined) return await insertAtSlot(sql, choice);
  return await insertBuilt(
    sql,
    sources.filter((source) => "post" in source),
  );
}

/** Locks on the rules keep other posts from the same slot. */
async function insertAtSlot(
  sql: Sql,
  { workspaceId, build, slots, rules }: SlotChoice,
): Promise<readonly InsertResult[]> {
  return await sql.begin(async (tx) => {
    const isSame = await lockActiveRules(tx, workspaceId, rules);
    const slot = isSame ? await findFreeSlot(tx, workspaceId, slots) : undefined;
    return slot === undefined ? [NO_SLOT] : await insertBuilt(tx, [build(slot)]);
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
