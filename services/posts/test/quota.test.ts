import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { failMissedBatch, startDueBatch } from "#src/jobs/start-due-posts.ts";
import { deliveryOf, newWorkspace, startPosts, type Posts } from "./fixture.ts";
import { findQuotaDrift, findSharedDrift } from "./quota-drift.ts";
import type { ShownPost } from "./shown-posts.ts";

let posts: Posts;
beforeAll(async () => {
  // The clock of the test stands still, so that no test runs across the end of a day.
  const now = new Date();
  posts = await startPosts({ clock: () => Promise.resolve(now) });
});
afterAll(() => posts[Symbol.asyncDispose]());

let count = 0;
const unique = () => `post ${(count += 1)}`;

function workspaceWith(limits: { monthlyQuota?: number; dailyQuota?: number }, platform = "x") {
  const workspaceId = newWorkspace();
  posts.peers.limits.set(workspaceId, limits);
  const accountIds = [posts.peers.connectAccount(workspaceId, platform)];
  return { workspaceId, accountIds, createdVia: "rest" };
}

async function monthly(workspaceId: string) {
  const { monthly: month } = await posts.quota.getQuota({ workspaceId });
  return { used: month?.used, reserved: month?.reserved, remaining: month?.remaining };
}

test("a monthly quota of which 20 is left accepts exactly 20 of 50 concurrent posts", async () => {
  const request = workspaceWith({ monthlyQuota: 20 });

  const results = await Promise.allSettled(
    Array.from({ length: 50 }, () => posts.createPost({ ...request, content: unique() })),
  );

  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(20);
  const reasons = results.flatMap((result) =>
    result.status === "rejected" ? [(result.reason as { reason: string }).reason] : [],
  );
  expect(reasons).toEqual(Array(30).fill("quota_exceeded"));
  expect(await monthly(request.workspaceId)).toEqual({ used: 0n, reserved: 20n, remaining: 0n });
  const stored = await posts.posts.listPosts({ workspaceId: request.workspaceId, limit: 100 });
  expect(stored.posts).toHaveLength(20);
});

test("a workspace whose posts failed or were cancelled 10,000 times in a month publishes no more in it, neither with new posts nor with drafts or retries", async () => {
  const request = workspaceWith({ monthlyQuota: 2 });
  const { workspaceId } = request;
  const draft = await posts.createPost({ ...request, content: unique(), isDraft: true });
  const cancelled = await posts.createPost({ ...request, content: unique() });
  await posts.posts.deletePost({ workspaceId, id: cancelled.id });
  const failed = await posts.createPost({ ...request, content: unique() });
  await posts.sql`
    update quota_usage set released = released + 9998
    where workspace_id = ${workspaceId} and subject = ${workspaceId}`;
  await posts.report([deliveryOf(failed)(0, "failed")]);

  const refusal = {
    reason: "quota_exceeded",
    violations: [{ code: "monthly", limit: 10_000, used: 10_000n, reserved: 0n, requested: 1n }],
  };
  const { monthly: month } = await posts.quota.getQuota({ workspaceId });
  expect(month).toMatchObject({ released: 10_000n, maxReleased: 10_000n, remaining: 2n });
  const ref = (post: ShownPost) => ({ workspaceId, id: post.id });
  for (const refused of [
    () => posts.createPost({ ...request, content: unique() }),
    () => posts.posts.publishPost(ref(draft)),
    () => posts.posts.retryPost(ref(failed)),
  ])
    await expect(refused()).rejects.toMatchObject(refusal);
  await posts.report([deliveryOf(failed)(0, "published")]);
  expect(await posts.createPost({ ...request, content: unique() })).toMatchObject({
    status: "publishing",
  });
});

test("a post above a daily limit is refused and reserves nothing", async () => {
  const request = workspaceWith({ dailyQuota: 3 });

  const results = await Promise.allSettled(
    Array.from({ length: 12 }, () => posts.createPost({ ...request, content: unique() })),
  );

  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  expect(await monthly(request.workspaceId)).toMatchObject({ reserved: 3n });
  expect(await findQuotaDrift(posts.sql, request.workspaceId)).toEqual([]);
  const left = await posts.sql`
    select 1
    from duplicate_guards
    where workspace_id = ${request.workspaceId}`;
  expect(left).toHaveLength(3);
});

test("the error for an exceeded quota lists every limit that the post exceeds", async () => {
  const request = workspaceWith({ monthlyQuota: 1, dailyQuota: 1 }, "bluesky");
  const [accountId] = request.accountIds;
  await posts.createPost(request);

  await expect(posts.createPost({ ...request, content: unique() })).rejects.toMatchObject({
    reason: "quota_exceeded",
    violations: [
      { code: "monthly", limit: 1, used: 0n, reserved: 1n, requested: 1n },
      { code: "daily", limit: 1, used: 0n, reserved: 1n, platform: "bluesky", accountId },
    ],
  });
});

test("a post for more accounts than the monthly limit is refused and reserves nothing", async () => {
  const request = workspaceWith({ monthlyQuota: 1 });
  const accountIds = [...request.accountIds, posts.peers.connectAccount(request.workspaceId, "x")];

  await expect(posts.createPost({ ...request, accountIds })).rejects.toMatchObject({
    reason: "quota_exceeded",
    violations: [{ code: "monthly", requested: 2n }],
  });
});

test("targets that are published or have an unknown outcome use quota, and failed targets free their quota", async () => {
  const workspaceId = newWorkspace();
  const accountIds = ["x", "x", "x"].map((platform) =>
    posts.peers.connectAccount(workspaceId, platform),
  );
  const post = await posts.createPost({ workspaceId, accountIds });
  const update = deliveryOf(post);

  await posts.report([update(0, "published"), update(1, "failed")]);
  expect(await monthly(workspaceId)).toEqual({ used: 1n, reserved: 1n, remaining: 998n });

  await posts.report([update(2, "failed", { errorCode: "outcome_unknown" })]);
  expect(await monthly(workspaceId)).toEqual({ used: 2n, reserved: 0n, remaining: 998n });

  await posts.report([update(2, "published")]);
  expect(await monthly(workspaceId)).toEqual({ used: 2n, reserved: 0n, remaining: 998n });
});

test("a publication that is confirmed late uses quota even above the limit", async () => {
  const request = workspaceWith({ monthlyQuota: 1 });
  const first = await posts.createPost({ ...request, content: unique() });
  const update = deliveryOf(first);
  await posts.report([update(0, "failed")]);
  const second = await posts.createPost({ ...request, content: unique() });
  await posts.report([deliveryOf(second)(0, "published")]);

  await posts.report([update(0, "published")]);

  expect(await monthly(request.workspaceId)).toEqual({ used: 2n, reserved: 0n, remaining: 0n });
});

test("GetQuota shows a daily limit that several accounts share for each of these accounts", async () => {
  const workspaceId = newWorkspace();
  const [x1, x2, telegram, bluesky] = ["x", "x", "telegram", "bluesky"].map((platform) =>
    posts.peers.connectAccount(workspaceId, platform),
  );
  await posts.createPost({ workspaceId, accountIds: [x1 ?? "", telegram ?? "", bluesky ?? ""] });

  const { dailyLimits } = await posts.quota.getQuota({ workspaceId });

  expect(
    dailyLimits.map(({ accountId, scope, limit, reserved }) => [accountId, scope, limit, reserved]),
  ).toEqual([
    [bluesky, "account", 11_666n, 1n],
    [x2, "app", 10_000n, 1n],
    [x1, "app", 10_000n, 1n],
  ]);
});

test("every quota counter matches the number of targets that count towards it after random sequences of operations", async () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("create" as const),
      when: fc.constantFrom("now", "later", "draft"),
      targets: fc.integer({ min: 1, max: 3 }),
    }),
    fc.record({
      kind: fc.constant("report" as const),
      post: fc.nat(),
      target: fc.nat({ max: 2 }),
      status: fc.constantFrom("publishing" as const, "published" as const, "failed" as const),
      errorCode: fc.constantFrom("content_rejected", "outcome_unknown"),
    }),
    fc.record({
      kind: fc.constantFrom("start" as const, "miss" as const, "retry" as const, "delete" as const),
      post: fc.nat(),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const { workspaceId } = workspaceWith({ monthlyQuota: 6 });
      const accounts = ["x", "bluesky", "telegram"].map((platform) =>
        posts.peers.connectAccount(workspaceId, platform),
      );
      const made: { post: ShownPost; update: ReturnType<typeof deliveryOf> }[] = [];
      const scheduler = { sql: posts.sql, missedAfterMs: 86_400_000, nudgeRelay: () => {} };
      const run = async (each: (typeof steps)[number]): Promise<void> => {
        if (each.kind === "create") {
          const later = { scheduledAt: timestampFromDate(new Date(Date.now() + 3_600_000)) };
          const post = await posts.createPost({
            workspaceId,
            accountIds: accounts.slice(0, each.targets),
            content: unique(),
            isDraft: each.when === "draft",
            ...(each.when === "later" ? later : {}),
          });
          made.push({ post, update: deliveryOf(post) });
          return;
        }
        const chosen = made[each.post % Math.max(1, made.length)];
        if (chosen === undefined) return;
        const { id } = chosen.post;
        if (each.kind === "report") {
          if (chosen.post.targets[each.target] === undefined) return;
          const { errorCode } = each;
          const failure = each.status === "failed" ? { errorCode } : {};
          await posts.report([chosen.update(each.target, each.status, failure)]);
        } else if (each.kind === "retry") await posts.posts.retryPost({ workspaceId, id });
        else if (each.kind === "delete") await posts.posts.deletePost({ workspaceId, id });
        else {
          const lateMs = each.kind === "start" ? 1000 : 90_000_000;
          await posts.sql`
            update posts
            set scheduled_at = now() - ${lateMs}::float8 * interval '1 millisecond'
            where id = ${id}
            and status = 'scheduled'`;
          await (each.kind === "start" ? startDueBatch(scheduler) : failMissedBatch(scheduler));
        }
      };
      for (const each of steps) {
        // A quota counter must not change when an operation is refused.
        await run(each).catch((error: { kind?: string }) => {
          if (error.kind === undefined || error.kind === "internal") throw error;
        });
        expect(await findQuotaDrift(posts.sql, workspaceId)).toEqual([]);
        expect(await findSharedDrift(posts.sql)).toEqual([]);
      }
    }),
    { numRuns: 30 },
  );
});

test("a daily limit counts a post on the UTC day on which the post is due", async () => {
  const request = workspaceWith({ dailyQuota: 2 }, "bluesky");
  const dayMs = 86_400_000;
  const noonInDays = (days: number) =>
    timestampFromDate(new Date((Math.floor(Date.now() / dayMs) + days + 0.5) * dayMs));
  const schedule = (days: number) =>
    posts.createPost({ ...request, content: unique(), scheduledAt: noonInDays(days) });

  await schedule(2);
  await schedule(2);

  await expect(schedule(2)).rejects.toMatchObject({
    reason: "quota_exceeded",
    violations: [{ code: "daily", limit: 2, used: 0n, reserved: 2n, requested: 1n }],
  });
  await expect(schedule(4)).resolves.toBeDefined();
});
