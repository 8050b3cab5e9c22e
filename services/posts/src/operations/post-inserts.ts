import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import {
  isInfrastructureError,
  type ISql,
  type Sql,
  type TransactionSql,
} from "@postrider/shared/postgres";
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

export function createPostInserts(sql: Sql): PostInserts {
  return new Gatherer<PendingPost, InsertResult>({
    handle: (pending) => insertPending(sql, pending),
    isOfItem: (error) =>
      isRefused(error) ||
      isLockTimeout(error) ||
      // Large responses and large posts of several workspaces are counted in two rounds, so their
      // locks have no common order.
      isDeadlock(error) ||
      !isInfrastructureError(error),
  });
}

async function insertPending(
  sql: Sql,
  pending: readonly PendingPost[],
): Promise<readonly InsertResult[]> {
  const queued = pending.filter(({ source }) => typeof source === "function");
  if (queued.length === 0) return await insertBuilt(sql, pending, new Map());
  return await sql.begin(async (tx) => {
    const slots = await chooseSlots(
      tx,
      queued.map(({ workspaceId }) => workspaceId),
    );
    return await insertBuilt(tx, pending, slots);
  });
}

/** Locks on the rules, in the order of the workspaces, keep other posts from the same slots. */
async function chooseSlots(
  tx: TransactionSql,
  workspaceIds: readonly string[],
): Promise<ReadonlyMap<string, QueueSlot>> {
  // The statements of a transaction are executed in the order in which they are sent.
  const ordered = workspaceIds.toSorted();
  const rules = await Promise.all(ordered.map((id) => lockActiveRules(tx, id)));
  // The database's clock is read after the locks are taken: a queue slot may pass while the
  // transaction waits.
  const now = await readClock(tx);
  const slots = await Promise.all(
    ordered.map((workspaceId, index) => findNextSlot(tx, rules[index] ?? [], { workspaceId, now })),
  );
  return new Map(
    ordered.flatMap((id, index) => {
      const slot = slots[index];
      return slot === undefined ? [] : [[id, slot]];
    }),
  );
}

async function insertBuilt(
  sql: ISql,
  pending: readonly PendingPost[],
  slots: ReadonlyMap<string, QueueSlot>,
): Promise<readonly InsertResult[]> {
  const built = pending.map(({ source, workspaceId }) => {
    if (typeof source !== "function") return source;
    const slot = slots.get(workspaceId);
    return slot === undefined ? undefined : source(slot);
  });
  const known = built.filter((each) => each !== undefined);
  const records = known.map((each) => each.records);
  const refusals = records.length === 0 ? [] : await insertPosts(sql, records);
  const byPost = new Map(known.map((each, index) => [each, refusals[index] ?? null]));
  return built.map((each) =>
    each === undefined
      ? { refusal: "no_slot" }
      : { refusal: byPost.get(each) ?? null, built: each },
  );
}
