import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { create, detailsOf, inMs, refusalOf, whenPost, type PostDetail } from "./support/posts.ts";
import { startSystem, type System } from "./support/system.ts";
import { openTenant, type Tenant } from "./support/tenant.ts";
import { awayFromMidnight, noonInDays } from "./support/utc.ts";

let system: System;
beforeAll(async () => {
  system = await startSystem("postgres");
});
afterAll(() => system[Symbol.asyncDispose]());
beforeEach(awayFromMidnight);

interface Quota {
  readonly monthly: Readonly<Record<"limit" | "used" | "reserved" | "remaining", number>>;
  readonly dailyLimits: readonly Readonly<Record<string, unknown>>[];
}

const quotaOf = async (tenant: Tenant) => (await tenant.api.call<Quota>("GET", "/quota")).body;

/** What the counters hold over all months, and how many targets say that they are counted. */
async function countsOf({ id }: Tenant) {
  const [counters] = await system.sql`
    select coalesce(sum(used), 0)::int as used, coalesce(sum(reserved), 0)::int as reserved
    from posts.quota_usage where workspace_id = ${id} and subject = ${id}`;
  const [targets] = await system.sql`
    select
      count(*) filter (where t.status = 'published')::int as used,
      count(*) filter (where t.status in ('pending', 'publishing') and p.status <> 'draft')::int as reserved
    from posts.targets t join posts.posts p on p.id = t.post_id where t.workspace_id = ${id}`;
  return { counters, targets };
}

async function expectCounts(tenant: Tenant, expected: { used: number; reserved: number }) {
  expect(await countsOf(tenant)).toEqual({ counters: expected, targets: expected });
}

test("of fifty posts at the same moment exactly the twenty that the month allows are accepted, and used up", async () => {
  const tenant = await openTenant(system, ["--monthly-quota", "20"]);
  const bluesky = await tenant.connect("bluesky");
  await system.operate("pause", "--workspace", tenant.id);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      tenant.api.call<PostDetail>("POST", "/posts", {
        body: { content: `of fifty ${index}`, accountIds: [bluesky] },
      }),
    ),
  );
  const accepted = answers.filter(({ status }) => status === 202);
  const refused = answers.filter(({ status }) => status !== 202);
  expect(accepted).toHaveLength(20);
  expect(new Set(refused.map(refusalOf))).toEqual(new Set(["422 quota_exceeded monthly"]));
  const { monthly, dailyLimits } = await quotaOf(tenant);
  expect(monthly).toMatchObject({ limit: 20, used: 0, reserved: 20, remaining: 0 });
  expect(detailsOf(refused[0] ?? (answers[0] as never))[0]).toMatchObject({
    code: "monthly",
    limit: 20,
    requested: 1,
  });
  expect(dailyLimits).toMatchObject([
    { platform: "bluesky", accountId: bluesky, scope: "account", limit: 11_666, reserved: 20 },
  ]);
  await expectCounts(tenant, { used: 0, reserved: 20 });
  await system.operate("resume", "--workspace", tenant.id);
  for (const { body } of accepted) await whenPost(tenant.api, body.id, "published");
  expect((await quotaOf(tenant)).monthly).toMatchObject({ used: 20, reserved: 0, remaining: 0 });
  await expectCounts(tenant, { used: 20, reserved: 0 });
});

test("what is edited away or deleted is given back, what was published is not", async () => {
  const tenant = await openTenant(system, ["--monthly-quota", "3"]);
  const [x, bluesky, telegram] = [
    await tenant.connect("x"),
    await tenant.connect("bluesky"),
    await tenant.connect("telegram"),
  ];
  const scheduledAt = noonInDays(2);
  const first = await create(tenant.api, {
    content: "three",
    accountIds: [x, bluesky, telegram],
    scheduledAt,
  });
  await expectCounts(tenant, { used: 0, reserved: 3 });
  const more = { content: "more", accountIds: [bluesky], scheduledAt };
  expect(refusalOf(await tenant.api.call("POST", "/posts", { body: more }))).toBe(
    "422 quota_exceeded monthly",
  );
  await tenant.api.call("PATCH", `/posts/${first.id}`, { body: { accountIds: [x] } });
  await expectCounts(tenant, { used: 0, reserved: 1 });
  const second = await create(tenant.api, more);
  await expectCounts(tenant, { used: 0, reserved: 2 });
  await tenant.api.call("DELETE", `/posts/${first.id}`);
  await expectCounts(tenant, { used: 0, reserved: 1 });
  await tenant.api.call("POST", `/posts/${second.id}/publish`);
  await whenPost(tenant.api, second.id, "published");
  await expectCounts(tenant, { used: 1, reserved: 0 });
  await tenant.api.call("DELETE", `/posts/${second.id}`);
  await eventually(
    async () => (await tenant.api.getPost(second.id)).targets[0]?.status === "deleted",
  );
  expect((await countsOf(tenant)).counters).toEqual({ used: 1, reserved: 0 });
});

test("a failed target gives its share back, and a retry takes one anew or is refused", async () => {
  const tenant = await openTenant(system, ["--monthly-quota", "1"]);
  const bluesky = await tenant.connect("bluesky");
  await system.simulator.addFault({
    platform: "bluesky",
    operation: "publish",
    mode: "refuse",
    times: 1,
  });
  const { id } = await create(tenant.api, { content: "fails", accountIds: [bluesky] });
  await whenPost(tenant.api, id, "failed");
  await expectCounts(tenant, { used: 0, reserved: 0 });
  const other = await create(tenant.api, {
    content: "other",
    accountIds: [bluesky],
    scheduledAt: inMs(30_000),
  });
  const retry = () => tenant.api.call("POST", `/posts/${id}/retry`);
  expect(refusalOf(await retry())).toBe("422 quota_exceeded monthly");
  await tenant.api.call("DELETE", `/posts/${other.id}`);
  expect((await retry()).status).toBe(202);
  await whenPost(tenant.api, id, "published");
  await expectCounts(tenant, { used: 1, reserved: 0 });
});

test("a day's limit names the account, and counts by the day a post is due", async () => {
  const tenant = await openTenant(system, ["--daily-quota", "2"]);
  const bluesky = await tenant.connect("bluesky");
  const onDay = (content: string, days: number) =>
    tenant.api.call("POST", "/posts", {
      body: { content, accountIds: [bluesky], scheduledAt: noonInDays(days) },
    });
  const answers = [
    await onDay("a", 1),
    await onDay("b", 1),
    await onDay("c", 1),
    await onDay("d", 3),
  ];
  expect(answers.map(refusalOf)).toEqual(["202 ", "202 ", "422 quota_exceeded daily", "202 "]);
  expect(detailsOf(answers[2] as never)[0]).toMatchObject({
    accountId: bluesky,
    platform: "bluesky",
    limit: 2,
    used: 0,
    reserved: 2,
    requested: 1,
  });
});

test("the app's day is shared by all its accounts, and each of them shows it", async () => {
  const tenant = await openTenant(system, ["--daily-quota", "3"]);
  const [one, other, bluesky] = [
    await tenant.connect("x"),
    await tenant.connect("x"),
    await tenant.connect("bluesky"),
  ];
  const ofToday = (reserved: number, used: number) => {
    const shared = { platform: "x", scope: "app", limit: 3, used, reserved };
    const remaining = 3 - used - reserved;
    return [
      { platform: "bluesky", accountId: bluesky, scope: "account", limit: 3, used: 0, reserved: 0 },
      { ...shared, accountId: other, remaining },
      { ...shared, accountId: one, remaining },
    ];
  };
  await system.operate("pause", "--workspace", tenant.id);
  const post = (content: string, accountIds: readonly string[]) =>
    tenant.api.call<PostDetail>("POST", "/posts", { body: { content, accountIds } });
  const both = await post("both", [one, other]);
  expect((await quotaOf(tenant)).dailyLimits).toMatchObject(ofToday(2, 0));
  // Whole or not at all: one more would fit, two do not.
  const refused = await post("two more", [one, other]);
  expect(refusalOf(refused)).toBe("422 quota_exceeded daily");
  const shortage = { platform: "x", limit: 3, used: 0, reserved: 2, requested: 2 };
  expect(detailsOf(refused)).toMatchObject([shortage]);
  const third = await post("the third", [other]);
  expect([refusalOf(third), refusalOf(await post("the fourth", [one]))]).toEqual([
    "202 ",
    "422 quota_exceeded daily",
  ]);
  await system.operate("resume", "--workspace", tenant.id);
  for (const { body } of [both, third]) await whenPost(tenant.api, body.id, "published");
  expect((await quotaOf(tenant)).dailyLimits).toMatchObject(ofToday(0, 3));
});
