import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import { isInfrastructureError, type ISql, type Sql } from "@postrider/shared/postgres";
import { readClock } from "@postrider/shared/postgres/clock";
import { isLockTimeout } from "@postrider/shared/postgres/idempotency";
import { insertPosts, type InsertRefusal } from "#src/db/insert-posts.ts";
import type { NewPost, PostRecords } from "#src/db/new-post.ts";
import { lockActiveRules } from "#src/db/queue-slot-rules.ts";
import { isDeadlock, isRefused } from "#src/db/refusal.ts";
import type { QueueSlot } from "#src/domain/next-slots.ts";
import { findNextSlot } from "#src/operations/find-free-slots.ts";
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

/** A post for which no queue slot is free is not built. */
export type InsertResult =
  | { readonly refusal: null; readonly built: BuiltPost }
  | { readonly refusal: InsertRefusal; readonly built: BuiltPost }
  | { readonly refusal: "no_slot" };

/** Inserts posts in the order in which they arrive, many with one statement and one commit. */
export type PostInserts = Pick<Gatherer<PendingPost, InsertResult>, "submit" | "submitAlone">;

/**
 * A post for a queue slot is inserted alone, because the search for its slot can be long: the posts
 * of other workspaces would wait for it in the same transaction.
 */
export function createPostInserts(sql: Sql): PostInserts {
  const gatherer = new Gatherer<PendingPost, InsertResult>({
    handle: (pending) => insertPending(sql, pending),
    isOfItem: (error) =>
      isRefused(error) ||
      isLockTimeout(error) ||
      // Large responses and large posts of several workspaces are counted in two rounds, so their
      // locks have no common order.
      isDeadlock(error) ||
      !isInfrastructureError(error),
  });
  const submitAlone: PostInserts["submitAlone"] = (post) => gatherer.submitAlone(post);
  return {
    submit: (post) =>
      typeof post.source === "function" ? submitAlone(post) : gatherer.submit(post),
    submitAlone,
  };
}

async function insertPending(
  sql: Sql,
  pending: readonly PendingPost[],
): Promise<readonly InsertResult[]> {
  const built: BuiltPost[] = [];
  for (const { workspaceId, source } of pending) {
    if (typeof source === "function") return [await insertQueued(sql, workspaceId, source)];
    built.push(source);
  }
  return await insertBuilt(sql, built);
}

const NO_SLOT = { refusal: "no_slot" } as const;

/** Locks on the rules keep other posts from the same slot. */
async function insertQueued(
  sql: Sql,
  workspaceId: string,
  build: (slot: QueueSlot) => BuiltPost,
): Promise<InsertResult> {
  return await sql.begin(async (tx) => {
    const rules = await lockActiveRules(tx, workspaceId);
    // The database's clock is read after the locks are taken: a queue slot may pass while the
    // transaction waits.
    const now = await readClock(tx);
    const slot = await findNextSlot(tx, rules, { workspaceId, now });
    const [result = NO_SLOT] = slot === undefined ? [] : await insertBuilt(tx, [build(slot)]);
    return result;
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
