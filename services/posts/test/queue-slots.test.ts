import { timestampDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { newWorkspace, startPostsForFile } from "./fixture.ts";
import { toTimestamp } from "./shown-posts.ts";
import { timeOfDayIn, workspaceOf } from "./workspace.ts";

const posts = await startPostsForFile();

const HOUR_MS = 3_600_000;

const DAILY = {
  name: "daily",
  weekdays: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
  // The times of day are in descending order, because the posts service normalizes the order.
  times: [timeOfDayIn(6, "Asia/Seoul"), timeOfDayIn(18, "Asia/Seoul")].toSorted().toReversed(),
  timezone: "Asia/Seoul",
};

async function createRule(workspaceId: string, change: Partial<typeof DAILY> = {}) {
  const { rule } = await posts.slots.createQueueSlotRule({ workspaceId, ...DAILY, ...change });
  if (rule === undefined) throw new Error("a rule is missing in its answer");
  return rule;
}

test("a new queue-slot rule is active and normalized and shows its next three free slots", async () => {
  const workspaceId = newWorkspace();
  const rule = await createRule(workspaceId);
  expect(rule).toMatchObject({
    name: "daily",
    weekdays: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
    times: DAILY.times.toReversed(),
    timezone: "Asia/Seoul",
    status: "active",
  });
  const [first = 0, ...others] = rule.nextSlots.map((slot) => timestampDate(slot).getTime());
  expect(Math.abs(first - Date.now() - 6 * HOUR_MS)).toBeLessThan(HOUR_MS);
  expect(others).toEqual([first + 12 * HOUR_MS, first + 24 * HOUR_MS]);
  const { rules } = await posts.slots.listQueueSlotRules({ workspaceId });
  expect(rules).toEqual([rule]);
});

test("a queue-slot rule does not show slots that posts have taken, even through another rule", async () => {
  const workspace = workspaceOf(posts);
  const [first] = [
    await createRule(workspace.workspaceId),
    await createRule(workspace.workspaceId),
  ];
  const post = await workspace.create({ queueSlot: true });
  expect(post.queueSlotRuleId).toBe(first.id);
  expect(toTimestamp(post.scheduledAt)).toEqual(first.nextSlots[0]);
  const { rules } = await posts.slots.listQueueSlotRules({ workspaceId: workspace.workspaceId });
  expect(rules).toHaveLength(2);
  for (const rule of rules) expect(rule.nextSlots.slice(0, 2)).toEqual(first.nextSlots.slice(1));
});

test("a paused queue-slot rule has no slots until it is active again", async () => {
  const workspaceId = newWorkspace();
  const rule = await createRule(workspaceId);
  const ref = { workspaceId, id: rule.id };
  const paused = await posts.slots.updateQueueSlotRule({ ...ref, status: "paused" });
  expect(paused.rule).toMatchObject({ status: "paused", nextSlots: [] });
  const active = await posts.slots.updateQueueSlotRule({ ...ref, status: "active" });
  expect(active.rule?.nextSlots).toEqual(rule.nextSlots);
});

test("an update of a queue-slot rule changes only the fields that were sent, and an empty date removes the stored date", async () => {
  const workspaceId = newWorkspace();
  const { rule } = await posts.slots.createQueueSlotRule({
    workspaceId,
    ...DAILY,
    startsOn: "2026-01-01",
    endsOn: "2099-01-01",
  });
  const ref = { workspaceId, id: rule?.id ?? "" };
  const { rule: changed } = await posts.slots.updateQueueSlotRule({
    ...ref,
    times: ["09:30"],
    endsOn: "",
  });
  expect(changed).toMatchObject({ name: "daily", times: ["09:30"], startsOn: "2026-01-01" });
  expect(changed?.endsOn).toBeUndefined();
  expect(changed?.weekdays).toEqual(rule?.weekdays);
});

test.each([
  [{ times: ["24:00"] }, "/times/0"],
  [{ weekdays: ["mon", "mon"] }, "/weekdays/1"],
  [{ timezone: "Mars/Olympus" }, "/timezone"],
  [{ name: "" }, "/name"],
  [{ status: "revoked" }, "/status"],
  [{ startsOn: "2026-02-01", endsOn: "2026-01-01" }, "/endsOn"],
])("UpdateQueueSlotRule rejects the invalid change %j", async (change, path) => {
  const workspaceId = newWorkspace();
  const rule = await createRule(workspaceId);
  const update = { workspaceId, id: rule.id, ...change };
  await expect(posts.slots.updateQueueSlotRule(update)).rejects.toMatchObject({
    reason: "invalid_request",
    violations: [{ path }],
  });
  const { rules } = await posts.slots.listQueueSlotRules({ workspaceId });
  expect(rules).toEqual([rule]);
});

test("a deleted queue-slot rule is not found any more, and its posts keep their time", async () => {
  const workspace = workspaceOf(posts);
  const { workspaceId } = workspace;
  const ref = { workspaceId, id: (await createRule(workspaceId)).id };
  const post = await workspace.create({ queueSlot: true });
  await posts.slots.deleteQueueSlotRule(ref);

  const gone = { reason: "not_found" };
  expect((await posts.slots.listQueueSlotRules({ workspaceId })).rules).toEqual([]);
  await expect(posts.slots.deleteQueueSlotRule(ref)).rejects.toMatchObject(gone);
  await expect(posts.slots.updateQueueSlotRule({ ...ref, status: "active" })).rejects.toMatchObject(
    gone,
  );
  expect(await workspace.reread(post)).toEqual(post);
  await expect(workspace.create({ queueSlot: true })).rejects.toMatchObject({
    reason: "no_queue_slot",
  });
});

test("concurrent requests cannot create more queue-slot rules than the limit", async () => {
  const workspaceId = newWorkspace();
  await posts.sql`
    insert into queue_slot_rules (id, workspace_id, name, weekdays, times, timezone, created_at, updated_at)
    select gen_random_uuid(), ${workspaceId}, 'rule', '{mon}', '{06:00}', 'UTC', now(), now()
    from generate_series(1, 97)`;
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, () => createRule(workspaceId)),
  );

  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  await expect(createRule(workspaceId)).rejects.toMatchObject({
    reason: "validation_failed",
    violations: [{ code: "too_many_rules", limit: 100 }],
  });
});

test("concurrent requests with one idempotency key create one queue-slot rule and get the same answer", async () => {
  const workspaceId = newWorkspace();
  const request = { workspaceId, ...DAILY, idempotency: { key: "key", fingerprint: "a" } };
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => posts.slots.createQueueSlotRule(request)),
  );
  expect(new Set(answers.map(({ rule }) => rule?.id)).size).toBe(1);
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  const other = { ...request, idempotency: { key: "key", fingerprint: "b" } };
  await expect(posts.slots.createQueueSlotRule(other)).rejects.toMatchObject({
    reason: "idempotency_key_reused",
  });
});

test("the queue-slot rules of another workspace can be neither read nor changed and create no slots", async () => {
  const workspaceId = newWorkspace();
  const rule = await createRule(workspaceId);
  const foreign = { workspaceId: newWorkspace(), id: rule.id };
  const gone = { reason: "not_found" };
  await expect(posts.slots.updateQueueSlotRule({ ...foreign, name: "x" })).rejects.toMatchObject(
    gone,
  );
  await expect(posts.slots.deleteQueueSlotRule(foreign)).rejects.toMatchObject(gone);
  await expect(workspaceOf(posts).create({ queueSlot: true })).rejects.toMatchObject({
    reason: "no_queue_slot",
  });
  expect((await posts.slots.listQueueSlotRules({ workspaceId })).rules).toEqual([rule]);
});
