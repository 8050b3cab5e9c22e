import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { newId } from "@postrider/shared/ids";
import { removeWorkspace } from "@postrider/shared/testing/workspace-removal";
import { beforeEach, expect, test } from "vitest";
import { dayOf, INSTALLATION } from "#src/domain/quota.ts";
import { failMissedBatch } from "#src/jobs/start-due-posts.ts";
import { deliveryOf, startPostsForFile } from "./fixture.ts";
import { findSharedDrift } from "./quota-drift.ts";
import type { ShownPost } from "./shown-posts.ts";
import { workspaceOf } from "./workspace.ts";

// The clock of the test stands still, so that no test runs across the end of a day.
const NOW = new Date();
const posts = await startPostsForFile({ clock: () => Promise.resolve(NOW) });
posts.peers.hasSeveralWorkspaces = true;
beforeEach(async () => {
  posts.peers.limits.clear();
  await posts.migrationSql`truncate posts, outbox, quota_usage cascade`;
});

const noonInDays = (days: number) => {
  const day = Math.floor(NOW.getTime() / 86_400_000) + days;
  return new Date((day + 0.5) * 86_400_000);
};

/** A workspace with two X accounts. */
function open(limits: { monthlyQuota?: number; dailyQuota?: number } = {}) {
  const workspace = workspaceOf(posts);
  const { workspaceId } = workspace;
  posts.peers.limits.set(workspaceId, { monthlyQuota: 1_000_000, ...limits });
  const accountIds = [workspace.connect(), workspace.connect()];
  const send = (change: { accountIds?: string[]; days?: number } = {}) => {
    const { days, accountIds: [first = ""] = accountIds } = change;
    return posts.createPost({
      workspaceId,
      accountIds: change.accountIds ?? [first],
      content: newId(),
      ...(days === undefined ? {} : { scheduledAt: timestampFromDate(noonInDays(days)) }),
    });
  };
  return { ...workspace, accountIds, send };
}

/** Counts publications of a workspace today as if it had made them before. */
async function use(workspaceId: string, used: number): Promise<void> {
  for (const owner of [workspaceId, INSTALLATION])
    await posts.sql`
      insert into quota_usage (workspace_id, subject, period, used)
      values (${owner}, 'x', ${dayOf(NOW)}, ${used})
      on conflict (workspace_id, subject, period) do update
      set used = quota_usage.used + excluded.used`;
}

/** What GET /quota shows of today's limit of the X app. */
async function shown(workspaceId: string) {
  const { dailyLimits } = await posts.quota.getQuota({ workspaceId });
  const [{ scope, limit, used, reserved, remaining } = { scope: "none" }] = dailyLimits;
  return [scope, ...[limit, used, reserved, remaining].map(Number)];
}

/** Days from now, used and reserved of all workspaces together. */
async function shared() {
  const rows = await posts.sql<{ period: string; used: number; reserved: number }[]>`
    select period, used, reserved
    from quota_usage
    where workspace_id = ${INSTALLATION}
    and used + reserved > 0
    order by period`;
  const daysTo = (period: string) =>
    Math.round((Date.parse(period) - Date.parse(dayOf(NOW))) / 86_400_000);
  return rows.map(({ period, used, reserved }) => [daysTo(period), used, reserved]);
}

test("beside other workspaces, one that has used up its half of the limit of an app is refused, and another still has its half", async () => {
  const [one, other] = [open(), open()];
  await use(one.workspaceId, 4999);

  await one.send();
  await expect(one.send()).rejects.toMatchObject({
    reason: "quota_exceeded",
    violations: [{ code: "daily", limit: 5000, used: 4999n, reserved: 1n, platform: "x" }],
  });
  await other.send();

  expect(await shown(one.workspaceId)).toEqual(["app", 5000, 4999, 1, 0]);
  expect(await shown(other.workspaceId)).toEqual(["app", 5000, 0, 1, 4999]);
});

test("a workspace whose import reserved the whole limit of an app leaves another one its half", async () => {
  const [one, other] = [open(), open()];
  for (const owner of [one.workspaceId, INSTALLATION])
    await posts.sql`
      insert into quota_usage (workspace_id, subject, period, reserved, uncounted)
      values (${owner}, 'x', ${dayOf(NOW)}, 14_998, 9_998)`;
  await use(newId(), 4_998);

  await expect(one.send()).rejects.toMatchObject({ violations: [{ code: "daily", limit: 5000 }] });
  await other.send();
  const { id } = await other.send({ days: 1 });
  const { workspaceId } = other;
  await posts.posts.updatePost({ workspaceId, id, scheduledAt: timestampFromDate(NOW) });
  await expect(other.send()).rejects.toMatchObject({ violations: [{ code: "daily_shared" }] });
});

test("when all workspaces together have used up the limit of an app, a refusal says so without their numbers, and no event reports the quota as used up", async () => {
  const [one, other] = [open(), open()];
  await use(newId(), 9999);
  await one.send();

  const refusal: unknown = await other
    .send({ accountIds: other.accountIds })
    .catch((error: unknown) => error);
  const resetsAt = timestampFromDate(new Date(Date.parse(dayOf(NOW)) + 86_400_000));
  expect(refusal).toMatchObject({
    reason: "quota_exceeded",
    violations: [{ code: "daily_shared", limit: 10_000, requested: 2n, platform: "x", resetsAt }],
  });
  expect(refusal).not.toHaveProperty("violations.0.used");
  expect(refusal).not.toHaveProperty("violations.0.reserved");

  expect(await shown(other.workspaceId)).toEqual(["app", 5000, 0, 0, 0]);
  const events = await posts.events();
  expect(events.map(([, event]) => "exhausted" in event && event.exhausted)).toEqual([[]]);
});

test("a workspace that has used up its own part of a limit is told of that alone", async () => {
  const one = open({ dailyQuota: 1 });
  await one.send();
  await use(newId(), 9_999);

  const refusal: unknown = await one.send().catch((error: unknown) => error);
  expect(refusal).toHaveProperty("violations.length", 1);
  expect(refusal).toMatchObject({ violations: [{ code: "daily", limit: 1, reserved: 1n }] });
});

test("a workspace whose operator allows it more than the platform may use the app beyond the platform's limit, and others may not", async () => {
  const [one, other] = [open({ dailyQuota: 10_001 }), open()];
  await use(newId(), 10_000);

  await one.send();
  await expect(one.send()).rejects.toMatchObject({ violations: [{ code: "daily_shared" }] });
  await expect(other.send()).rejects.toMatchObject({ violations: [{ code: "daily_shared" }] });
  expect(await shown(one.workspaceId)).toEqual(["app", 10_001, 0, 1, 0]);
});

test("what all workspaces together have used and reserved follows each post: its outcome, its retry, its deletion and a move to another day", async () => {
  const [one, other] = [open(), open()];
  const first = await one.send({ accountIds: one.accountIds });
  const second = await other.send();
  expect(await shared()).toEqual([[0, 0, 3]]);

  const outcome = deliveryOf(first);
  await posts.report([outcome(0, "published"), outcome(1, "failed")]);
  await posts.report([deliveryOf(second)(0, "failed")]);
  expect(await shared()).toEqual([[0, 1, 0]]);

  await posts.posts.retryPost({ workspaceId: other.workspaceId, id: second.id });
  expect(await shared()).toEqual([[0, 1, 1]]);
  // The failure of the first post turns out to be wrong.
  await posts.report([outcome(1, "published")]);
  expect(await shared()).toEqual([[0, 2, 1]]);

  const later = await one.send({ days: 3 });
  expect(await shared()).toEqual([
    [0, 2, 1],
    [3, 0, 1],
  ]);
  const scheduledAt = timestampFromDate(noonInDays(4));
  await posts.posts.updatePost({ workspaceId: one.workspaceId, id: later.id, scheduledAt });
  expect(await shared()).toEqual([
    [0, 2, 1],
    [4, 0, 1],
  ]);
  await posts.posts.publishPost({ workspaceId: one.workspaceId, id: later.id });
  expect(await shared()).toEqual([[0, 2, 2]]);

  const scheduled = await other.send({ days: 5 });
  await posts.posts.deletePost({ workspaceId: other.workspaceId, id: scheduled.id });
  expect(await shared()).toEqual([[0, 2, 2]]);
});

test("a post that was not started in time frees what it reserved for all workspaces", async () => {
  const post = await open().send({ days: 2 });
  await posts.sql`update posts set scheduled_at = now() - interval '2 days' where id = ${post.id}`;
  await failMissedBatch({ sql: posts.sql, missedAfterMs: 86_400_000, nudgeRelay: () => {} });
  expect(await shared()).toEqual([]);
});

test("the removal of a workspace frees what it reserved for all workspaces, and what it used remains used", async () => {
  const [one, other] = [open(), open()];
  const published = await one.send();
  await posts.report([deliveryOf(published)(0, "published")]);
  await one.send();
  await one.send({ days: 2 });
  await other.send({ days: 2 });

  await removeWorkspace(posts.sql, one.workspaceId);

  expect(await shared()).toEqual([
    [0, 1, 0],
    [2, 0, 1],
  ]);
  expect(await findSharedDrift(posts.sql)).toEqual([]);
});

test("no workspace is imported under the id of the counters of all workspaces", async () => {
  const request = { workspaceId: INSTALLATION };
  await expect(posts.rowImports.prepareRowImport(request)).rejects.toThrow("invalid_request");
});

test("of many posts that two workspaces send at once on two replicas, exactly as many are accepted as the app has left", async () => {
  const replica = posts.addReplica();
  await use(newId(), 9990);
  const workspaces = [open(), open()];
  const sent = await Promise.allSettled(
    workspaces.flatMap(({ workspaceId, accountIds: [accountId = ""] }) =>
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? posts.posts : replica).createPost({
          workspaceId,
          accountIds: [accountId],
          content: newId(),
          createdVia: "rest",
        }),
      ),
    ),
  );
  const reasons = sent.flatMap((each) =>
    each.status === "rejected" ? [(each.reason as Error).message] : [],
  );
  expect(reasons).toEqual(Array(30).fill("quota_exceeded"));
  expect(await shared()).toEqual([[0, 9990, 10]]);
});

/** Makes statements hold each counter for longer, so that a wrong order of locks shows. */
async function slowDownCounters() {
  await posts.migrationSql.unsafe(`
    create function slow_down() returns trigger language plpgsql as $$
    begin
      perform pg_sleep(0.004);
      return null;
    end
    $$;
    create trigger slow_quota after insert or update on quota_usage for each row execute function slow_down();`);
  return {
    [Symbol.asyncDispose]: async () => {
      await posts.migrationSql`drop function slow_down cascade`;
    },
  };
}

test("creates, updates, deletions, retries and outcomes of two workspaces on the same days never deadlock, and leave true sums", async () => {
  await using _slow = await slowDownCounters();
  const workspaces = [open(), open()];
  const days = [1, 2, 40];
  const made = await Promise.all(
    workspaces.flatMap(({ workspaceId, send }) =>
      days.flatMap((day) =>
        Array.from({ length: 8 }, async () => ({
          workspaceId,
          day,
          post: await send({ days: day }),
        })),
      ),
    ),
  );
  const sent = await Promise.all(
    workspaces.flatMap(({ workspaceId, send }) =>
      Array.from({ length: 8 }, async () => ({ workspaceId, post: await send() })),
    ),
  );
  const failed = ({ post }: { post: ShownPost }) => deliveryOf(post)(0, "failed");
  await posts.report(sent.slice(0, 12).map(failed));

  const moves = made.map(({ workspaceId, day, post: { id } }, index) => {
    if (index % 3 === 0) return posts.posts.deletePost({ workspaceId, id });
    if (index % 3 === 1) return posts.posts.publishPost({ workspaceId, id });
    const scheduledAt = timestampFromDate(noonInDays(day === 1 ? 40 : 1));
    return posts.posts.updatePost({ workspaceId, id, scheduledAt });
  });
  const results = await Promise.allSettled([
    ...moves,
    ...workspaces.flatMap(({ send }) => days.flatMap((day) => [send({ days: day }), send()])),
    ...sent
      .slice(0, 12)
      .map(({ workspaceId, post: { id } }) => posts.posts.retryPost({ workspaceId, id })),
    ...sent.slice(12).map(({ post }) => posts.report([deliveryOf(post)(0, "published")])),
  ]);

  expect(results.filter(({ status }) => status === "rejected")).toEqual([]);
  expect(await findSharedDrift(posts.sql)).toEqual([]);
});
