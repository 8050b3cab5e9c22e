import { newId } from "@postrider/shared/ids";
import { expect, test } from "vitest";
import { insertQueueSlotRule } from "#src/db/queue-slot-rules.ts";
import { WEEKDAYS } from "#src/domain/queue-slot-rule.ts";
import { newWorkspace, startPostsForFile } from "./fixture.ts";
import { msOf, type ShownPost } from "./shown-posts.ts";
import { timeOfDayIn } from "./workspace.ts";

const posts = await startPostsForFile();

/**
 * Two times of day for a queue-slot rule: the next one comes in 6 hours, the other 12 hours later.
 */
const [EARLIER, LATER] = [timeOfDayIn(6), timeOfDayIn(18)];

let count = 0;
function queue() {
  const workspaceId = newWorkspace();
  const accountIds = [posts.peers.connectAccount(workspaceId, "x")];
  return () => ({
    workspaceId,
    accountIds,
    content: `post ${(count += 1)}`,
    createdVia: "rest",
    queueSlot: true,
  });
}

async function addRule(workspaceId: string, times: string[], endsOn: string | null = null) {
  const now = new Date();
  const id = newId();
  await insertQueueSlotRule(posts.sql, {
    id,
    workspaceId,
    name: "daily",
    weekdays: WEEKDAYS,
    times,
    timezone: "UTC",
    startsOn: null,
    endsOn,
    status: "active",
    createdAt: now,
    updatedAt: now,
  });
  return id;
}

/** The times between the queue slots of the posts. */
function gapsOf(made: readonly (ShownPost | undefined)[]) {
  const slots = made.map((post) => msOf(post?.scheduledAt ?? null)).toSorted((a, b) => a - b);
  return slots.slice(1).map((at, index) => at - (slots[index] ?? 0));
}

const listTakenSlots = (workspaceId: string) => posts.sql`
  select 1
  from slot_assignments
  where workspace_id = ${workspaceId}`;

test("concurrent posts get consecutive queue slots without sharing one", async () => {
  const next = queue();
  const { workspaceId } = next();
  const ruleId = await addRule(workspaceId, [EARLIER, LATER]);
  // This queue-slot rule adds no slots, because another rule already creates a slot at the same
  // time.
  await addRule(workspaceId, [EARLIER]);

  const made = await Promise.all(Array.from({ length: 20 }, () => posts.createPost(next())));

  expect(gapsOf(made)).toEqual(Array(19).fill(12 * 3_600_000));
  const first = Math.min(...made.map(({ scheduledAt }) => msOf(scheduledAt)));
  expect(first).toBeGreaterThan(Date.now());
  expect(first).toBeLessThanOrEqual(Date.now() + 12 * 3_600_000);
  for (const post of made)
    expect(post).toMatchObject({ status: "scheduled", queueSlotRuleId: ruleId });
  const [post] = made;
  expect(await posts.getPost(workspaceId, post?.id ?? "")).toEqual(post);
});

test("posts for the next queue slot that reach many replicas at the same time are all placed, in consecutive slots", async () => {
  const next = queue();
  const { workspaceId } = next();
  await addRule(workspaceId, [EARLIER, LATER]);
  const replicas = Array.from({ length: 12 }, () => posts.addReplica());

  const made = await Promise.all(
    replicas.flatMap((replica) =>
      Array.from({ length: 5 }, async () => (await replica.createPost(next())).post),
    ),
  );

  expect(gapsOf(made)).toEqual(Array(59).fill(12 * 3_600_000));
});

test("a post without a free queue slot is refused and does not use up its idempotency key", async () => {
  const next = queue();
  const keyed = { ...next(), idempotency: { key: "k", fingerprint: "f" } };
  await expect(posts.createPost(keyed)).rejects.toMatchObject({
    kind: "conflict",
    reason: "no_queue_slot",
  });

  await addRule(keyed.workspaceId, [EARLIER]);
  const post = await posts.createPost(keyed);

  expect(await posts.createPost(keyed)).toEqual(post);
  expect(await listTakenSlots(keyed.workspaceId)).toHaveLength(1);
});

test("concurrent requests with one idempotency key take one queue slot", async () => {
  const next = queue();
  const keyed = { ...next(), idempotency: { key: "k", fingerprint: "f" } };
  await addRule(keyed.workspaceId, [EARLIER, LATER]);

  const made = await Promise.all([1, 2, 3, 4].map(() => posts.createPost(keyed)));

  expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  expect(await listTakenSlots(keyed.workspaceId)).toHaveLength(1);
});

test("the refusal of a post reports the first reason in the order violations, duplicate, missing queue slot, quota", async () => {
  const next = queue();
  const same = next();
  const { workspaceId } = same;
  posts.peers.limits.set(workspaceId, { monthlyQuota: 1 });
  await posts.createPost({ ...same, queueSlot: false });
  const reasonOf = async (change: object) =>
    await posts.createPost({ ...same, ...change }).then(
      () => "accepted",
      (error: { reason: string }) => error.reason,
    );

  expect(await reasonOf({ content: "" })).toBe("validation_failed");
  expect(await reasonOf({})).toBe("duplicate_content");
  expect(await reasonOf({ content: "other" })).toBe("no_queue_slot");
  expect(await reasonOf({ force: true })).toBe("no_queue_slot");
  await addRule(workspaceId, [EARLIER]);
  expect(await reasonOf({})).toBe("duplicate_content");

  const other = queue();
  posts.peers.limits.set(other().workspaceId, { monthlyQuota: 0 });
  await addRule(other().workspaceId, [EARLIER]);
  await expect(posts.createPost(other())).rejects.toMatchObject({ reason: "quota_exceeded" });
  expect(await listTakenSlots(other().workspaceId)).toHaveLength(0);
});
