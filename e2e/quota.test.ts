import { expect, test } from "vitest";
import {
  create,
  detailsOf,
  HOUR_MS,
  inMs,
  refusalOf,
  whenPost,
  type PostDetail,
} from "./support/requests/posts.ts";
import { openTenant, type Tenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

const system = await useSharedSystem();

interface Quota {
  readonly monthly: Readonly<Record<"limit" | "used" | "reserved" | "remaining", number>>;
  readonly dailyLimits: readonly Readonly<Record<string, unknown>>[];
}

/**
 * The sum of a workspace's quota counters over all months (a month may end while a test runs), and
 * the sum that follows from its targets.
 */
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

test("exactly twenty of fifty concurrent posts are accepted when the monthly quota allows twenty", async () => {
  const tenant = await openTenant(system, ["--monthly-quota", "20"]);
  const bluesky = await tenant.connect("bluesky");
  // All posts are due in one month, long after the test.
  const scheduledAt = inMs(48 * HOUR_MS);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      tenant.api.call<PostDetail>("POST", "/posts", {
        body: { content: `of fifty ${index}`, accountIds: [bluesky], scheduledAt },
      }),
    ),
  );
  const refused = answers.filter(({ status }) => status !== 202);
  expect(refused).toHaveLength(30);
  expect(new Set(refused.map(refusalOf))).toEqual(new Set(["422 quota_exceeded monthly"]));
  expect(detailsOf(refused[0] ?? { status: 0, headers: new Headers(), body: {} })).toMatchObject([
    { code: "monthly", limit: 20, requested: 1 },
  ]);
  await expectCounts(tenant, { used: 0, reserved: 20 });
});

test("a published post on an account counts towards the monthly quota, and a failed or deleted one does not", async () => {
  const tenant = await openTenant(system, ["--monthly-quota", "5"]);
  const [x, bluesky] = [await tenant.connect("x"), await tenant.connect("bluesky")];
  const scheduledAt = inMs(48 * HOUR_MS);
  const later = await create(tenant.api, { content: "later", accountIds: [x], scheduledAt });
  await expectCounts(tenant, { used: 0, reserved: 1 });
  await tenant.api.call("DELETE", `/posts/${later.id}`);
  await expectCounts(tenant, { used: 0, reserved: 0 });
  await tenant.addFault(x, { operation: "publish", mode: "refuse" });
  const now = await create(tenant.api, { content: "now", accountIds: [x, bluesky] });
  await whenPost(tenant.api, now.id, "partial");
  await expectCounts(tenant, { used: 1, reserved: 0 });
  expect((await tenant.api.call("POST", `/posts/${now.id}/retry`)).status).toBe(202);
  await whenPost(tenant.api, now.id, "published");
  await expectCounts(tenant, { used: 2, reserved: 0 });
  const { body } = await tenant.api.call<Quota>("GET", "/quota");
  const { limit, used, reserved, remaining } = body.monthly;
  expect([limit, used + reserved + remaining]).toEqual([5, 5]);
  expect(body.dailyLimits).toMatchObject([
    { platform: "bluesky", accountId: bluesky, scope: "account" },
    { platform: "x", accountId: x, scope: "app" },
  ]);
});
