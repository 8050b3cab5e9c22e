import assert from "node:assert/strict";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { dayOf } from "#src/domain/quota.ts";
import {
  asksToPublish,
  HOUR_MS,
  MONTHLY_QUOTA,
  NOTHING_ASKED,
  type Asked,
  type World,
} from "./model-world.ts";
import { isOpen, PLANNED_HOURS, type ModelPost, type ModelTarget } from "./model.ts";

/** Random steps of clients: the service and the model must give the same responses. */

const CONTENTS = ["one", "two", "three", "four"];

function inHours(hours: number): Date {
  return new Date(Date.now() + hours * HOUR_MS);
}

function newTarget(id: string, accountId: string): ModelTarget {
  return {
    id,
    accountId,
    status: "pending",
    generation: 1,
    applied: [0, 0],
    externalId: null,
    error: null,
    deletion: 0,
    deletionVersion: 0,
    dueDay: null,
    guard: null,
    plannedIn: 0,
    isChecked: false,
  };
}

export async function createPost(world: World): Promise<Asked> {
  const accountIds = world.accounts.filter(() => world.isLikely(0.4));
  if (accountIds.length === 0) accountIds.push(world.pick(world.accounts));
  const content = world.pick(CONTENTS);
  const status = world.pick(["publishing", "scheduled", "draft"] as const);
  const plannedIn = status === "scheduled" ? world.pick(PLANNED_HOURS) : 0;
  const at = inHours(plannedIn);
  const isForced = world.isLikely(0.2);
  // A refused request does not use up its idempotency key, so the next request uses the same key.
  const key = world.isLikely(0.4) ? `key ${world.keys.size + 1}` : undefined;
  const request = {
    workspaceId: world.workspaceId,
    accountIds,
    content,
    force: isForced,
    ...(status === "scheduled" ? { scheduledAt: timestampFromDate(at) } : {}),
    ...(key === undefined ? {} : { idempotency: { key, fingerprint: "same" } }),
    isDraft: status === "draft",
  };
  let made: { id: string; targets: readonly { id: string }[] } | undefined;
  const reason = await world.reasonOf(async () => (made = await world.posts.createPost(request)));
  const targets = accountIds.map((accountId, index) =>
    newTarget(made?.targets[index]?.id ?? `none ${index}`, accountId),
  );
  const post = { id: made?.id ?? "none", status, content, targets };
  const dueDay = status === "draft" ? null : dayOf(at);
  const wish = { content, isForced, dueDay, plannedIn, limit: MONTHLY_QUOTA };
  const refusal = world.model.create(post, wish);
  assert.equal(reason, refusal);
  if (key !== undefined && made !== undefined) world.keys.set(key, made.id);
  return asksToPublish(refusal === undefined && status === "publishing" ? targets : []);
}

/** Once with the body of its first request and once with another body. */
export async function repeatKey(world: World): Promise<Asked> {
  const keys = [...world.keys];
  if (keys.length === 0) return NOTHING_ASKED;
  const [key, id] = world.pick(keys);
  const request = { workspaceId: world.workspaceId, accountIds: [...world.accounts] };
  const same = { ...request, idempotency: { key, fingerprint: "same" } };
  assert.equal((await world.posts.createPost(same)).id, id);
  const other = { ...request, idempotency: { key, fingerprint: "other" } };
  const reason = await world.reasonOf(() => world.posts.createPost(other));
  assert.equal(reason, "idempotency_key_reused");
  return NOTHING_ASKED;
}

export async function updatePost(world: World): Promise<Asked> {
  const post = world.pickPost(["draft", "scheduled"]);
  if (post === undefined) return NOTHING_ASKED;
  const { id } = post;
  const content = world.isLikely(0.7) ? world.pick(CONTENTS) : post.content;
  const plannedIn = world.isLikely(0.5) ? world.pick(PLANNED_HOURS) : undefined;
  const at = plannedIn === undefined ? undefined : inHours(plannedIn);
  const dueDay = at === undefined ? (post.targets[0]?.dueDay ?? null) : dayOf(at);
  const sent = at === undefined ? {} : { scheduledAt: timestampFromDate(at) };
  const reason = await world.reasonOf(() =>
    world.posts.posts.updatePost({ workspaceId: world.workspaceId, id, content, ...sent }),
  );
  const wish = { content, dueDay, plannedIn, isForced: false, limit: MONTHLY_QUOTA };
  assert.equal(reason, world.model.update(id, wish, at !== undefined));
  return NOTHING_ASKED;
}

export async function publishPost(world: World): Promise<Asked> {
  const post = world.pickPost();
  if (post === undefined) return NOTHING_ASKED;
  const force = world.isLikely(0.3);
  const ref = { workspaceId: world.workspaceId, id: post.id };
  const reason = await world.reasonOf(() => world.posts.posts.publishPost({ ...ref, force }));
  const wish = {
    dueDay: dayOf(new Date()),
    plannedIn: 0,
    isForced: force,
    limit: MONTHLY_QUOTA,
  };
  const refusal = world.model.publish(post.id, wish);
  assert.equal(reason, refusal);
  return asksToPublish(refusal === undefined ? post.targets : []);
}

export async function retryPost(world: World): Promise<Asked> {
  const post = world.pickPost(["failed", "partial"]);
  return post === undefined ? NOTHING_ASKED : await retry(world, post);
}

export async function retry(world: World, post: ModelPost): Promise<Asked> {
  const before = new Map(post.targets.map(({ id, generation }) => [id, generation]));
  const ref = { workspaceId: world.workspaceId, id: post.id };
  const reason = await world.reasonOf(() => world.posts.posts.retryPost(ref));
  assert.equal(reason, world.model.retry(post.id, dayOf(new Date()), MONTHLY_QUOTA));
  return asksToPublish(post.targets.filter((it) => it.generation > (before.get(it.id) ?? 0)));
}

/**
 * The fake delivery service closes the open targets or refuses to. Sometimes the posts service
 * crashes between that answer and the commit.
 */
export async function deletePost(world: World): Promise<Asked> {
  const post = world.pickPost();
  if (post === undefined) return NOTHING_ASKED;
  const { delivery, model, posts } = world;
  const isPublishing = post.status === "publishing";
  const open = post.targets.filter(isOpen);
  for (const it of open) world.show(it, delivery.hasEnded(it.id, it.generation));
  const isRefused = open.some((it) => delivery.isCalling(it.id, it.generation));
  const hasCrashed = isPublishing && !isRefused && world.isLikely(0.3);
  posts.peers.onCancel = () =>
    hasCrashed ? Promise.reject(new Error("gone")) : Promise.resolve(undefined);
  const ref = { workspaceId: world.workspaceId, id: post.id };
  const reason = await world.reasonOf(() => posts.posts.deletePost(ref));
  if (isPublishing && !isRefused) close(world, open, hasCrashed);
  return await world.askedToRemove(() => {
    const refusal = model.delete(post.id, !isRefused, hasCrashed);
    if (hasCrashed) assert.ok(reason !== undefined);
    else assert.equal(reason, refusal);
  });
}

function close({ delivery, model }: World, open: readonly ModelTarget[], hasCrashed: boolean) {
  for (const { id, generation } of open) {
    const ended = delivery.hasEnded(id, generation);
    if (ended === undefined) delivery.close(id, generation);
    else if (!hasCrashed) model.applyUpdate(ended);
  }
}
