import assert from "node:assert/strict";
import { failMissedBatch } from "#src/jobs/start-due-posts.ts";
import { retry } from "./model-commands.ts";
import { asksToPublish, HOUR_MS, NOTHING_ASKED, type Asked, type World } from "./model-world.ts";
import {
  isOpen,
  isUnknown,
  type DeletionUpdate,
  type ModelTarget,
  type TaskUpdate,
} from "./model.ts";

/** Random steps without a client: time passes, and messages are lost, repeated or reordered. */

/** The scheduler starts it, or marks it as failed if it is more than a day late. */
export async function comeDue(world: World): Promise<Asked> {
  const { model, posts } = world;
  const scheduled = [...model.posts.values()].filter(({ status }) => status === "scheduled");
  if (scheduled.length === 0) return NOTHING_ASKED;
  const post = world.pick(scheduled);
  const isMissed = world.isLikely(0.2);
  const agoMs = isMissed ? 25 * HOUR_MS : 1000;
  const { sql } = posts;
  await sql`
    update posts set scheduled_at = now() - ${agoMs}::float8 * interval '1 millisecond' where id = ${post.id}`;
  await sql`
    update targets
    set due_at = now() - ${agoMs}::float8 * interval '1 millisecond', last_report_at = now()
    where post_id = ${post.id}`;
  await sql`
    update duplicate_guards
    set due_at = now() - ${agoMs}::float8 * interval '1 millisecond'
    where target_id in (select id from targets where post_id = ${post.id})`;
  const missed = { sql, missedAfterMs: 24 * HOUR_MS, nudgeRelay: () => {} };
  const counts = [await posts.startDue(), await failMissedBatch(missed)];
  assert.deepEqual(counts, isMissed ? [0, 1] : [1, 0]);
  if (isMissed) model.miss(post.id);
  else model.start(post.id);
  return asksToPublish(isMissed ? [] : post.targets);
}

/** Random step: lets a day pass, so that the duplicate guards of published targets expire. */
export async function endGuards({ posts, workspaceId, model }: World): Promise<Asked> {
  await posts.sql`
    update duplicate_guards set expires_at = now() - interval '1 second'
    where workspace_id = ${workspaceId} and expires_at is not null`;
  model.endGuards();
  return NOTHING_ASKED;
}

/** In any order. Some stay and are delivered again later, and some are lost. */
function takeSome<T>(world: World, wire: readonly T[]): { taken: T[]; left: T[] } {
  const taken: T[] = [];
  const left: T[] = [];
  for (const item of wire) {
    const luck = world.random();
    if (luck < 0.6) taken.push(item);
    if (luck > 0.45 && luck < 0.95) left.push(item);
  }
  for (let index = taken.length - 1; index > 0; index -= 1) {
    const other = Math.floor(world.random() * (index + 1));
    const [a, b] = [taken[index], taken[other]];
    if (a !== undefined && b !== undefined) [taken[index], taken[other]] = [b, a];
  }
  return { taken, left };
}

/** In any order: late, twice or never. */
export async function takeRequests(world: World): Promise<Asked> {
  const { taken, left } = takeSome(world, world.inbox);
  world.inbox = left;
  const updates = taken.flatMap((request) => {
    const [id = "", generation = ""] = request.split(" ");
    return world.delivery.request(id, Number(generation)) ?? [];
  });
  world.wire = [...world.wire, ...updates];
  return NOTHING_ASKED;
}

/** Also those of older publish requests. */
export async function advanceDelivery(world: World): Promise<Asked> {
  const { delivery } = world;
  for (const task of delivery.tasks()) {
    const isEnd = task.update.status === "published";
    const update = world.isLikely(isEnd ? 0.02 : 0.5)
      ? delivery.advance(task, world.random())
      : undefined;
    if (update !== undefined) world.wire = [...world.wire, update];
  }
  for (const update of delivery.deletions()) {
    const next = world.isLikely(0.3) ? delivery.advanceDeletion(update, world.random()) : undefined;
    if (next !== undefined) world.deletionWire = [...world.deletionWire, next];
  }
  return NOTHING_ASKED;
}

/**
 * After a retry about which the service has a report, an attempt that was reported as failed has
 * succeeded. The other random steps rarely lead to this case.
 */
export async function succeedLate(world: World): Promise<Asked> {
  const { delivery, model } = world;
  const failed = [...model.posts.values()].filter(
    ({ status, targets }) =>
      (status === "failed" || status === "partial") && targets.some((it) => findFailure(world, it)),
  );
  if (failed.length === 0) return NOTHING_ASKED;
  const post = world.pick(failed);
  const older = post.targets.flatMap((target) => findFailure(world, target) ?? []);
  const { publish } = await retry(world, post);
  const updates = older.flatMap((task) => {
    const target = model.target(task.targetId)?.target;
    if (target === undefined || target.generation === task.generation) return [];
    const begun = delivery.request(target.id, target.generation);
    world.lateSuccesses += 1;
    return [...(begun === undefined ? [] : [begun]), delivery.succeed(task)];
  });
  const { remove } = await world.report(updates);
  return { publish, remove };
}

/** Finds the publish task of a certainly failed target in the fake delivery service. */
function findFailure({ delivery }: World, target: ModelTarget) {
  if (target.status !== "failed" || isUnknown(target)) return undefined;
  const isNowhere = delivery.published(target.id) === undefined;
  return isNowhere ? delivery.findTask(target.id, target.generation) : undefined;
}

export async function reportUpdates(world: World): Promise<Asked> {
  const { taken, left } = takeSome(world, world.wire);
  world.wire = left;
  return await world.report(taken);
}

export async function reportDeletions(world: World): Promise<Asked> {
  const { taken, left } = takeSome(world, world.deletionWire);
  world.deletionWire = left;
  await world.reportDeletions(taken);
  return NOTHING_ASKED;
}

/** With the targets and deletions that one run of the sweep has to request again. */
interface Answers {
  readonly updates: TaskUpdate[];
  readonly deletions: DeletionUpdate[];
  readonly lost: ModelTarget[];
  readonly closed: ModelTarget[];
  readonly lostDeletions: string[];
}

function answerSweep(world: World): Answers {
  const { delivery, model } = world;
  const answers: Answers = { updates: [], deletions: [], lost: [], closed: [], lostDeletions: [] };
  for (const { status: postStatus, targets } of model.posts.values())
    for (const target of targets) {
      const { id, generation, deletion, status } = target;
      const known = delivery.published(id) ?? delivery.find(id, generation);
      world.show(target, known);
      if ((isOpen(target) || isUnknown(target)) && known !== undefined) answers.updates.push(known);
      else if (isOpen(target) && postStatus === "publishing")
        (delivery.isClosed(id, generation) ? answers.closed : answers.lost).push(target);
      const deleted = delivery.findDeletion(id, deletion);
      world.showDeletion(id, deleted);
      if (status !== "deleting") continue;
      if (deleted === undefined) answers.lostDeletions.push(`${id} ${deletion}`);
      else answers.deletions.push(deleted);
    }

  return answers;
}

/** Asks about every open target, even if a report has just arrived. */
export async function sweep(world: World): Promise<Asked> {
  const { model, posts } = world;
  const { updates, deletions, lost, closed, lostDeletions } = answerSweep(world);
  const { remove } = await world.askedToRemove(async () => {
    await posts.sweep(-60_000);
    for (const item of updates) model.applyUpdate(item);
    for (const item of deletions) model.applyDeletion(item);
    for (const { id } of closed) model.reopen(id);
  });
  return { ...asksToPublish([...lost, ...closed]), remove: [...lostDeletions, ...remove] };
}
