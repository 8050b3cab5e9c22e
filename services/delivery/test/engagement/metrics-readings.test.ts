import { MetricsService } from "@postrider/contracts/engagement/v1/metrics_service_pb";
import type { MetricsHistoryJson, MetricsSumsJson } from "@postrider/rest/dashboard/metrics";
import { newId } from "@postrider/shared/ids";
import { holdTransaction } from "@postrider/shared/testing/database";
import { createTestPeer } from "@postrider/shared/testing/router";
import { afterAll, expect, test } from "vitest";
import { createMetricsRoutes, RefreshesByHand } from "#src/engagement/rpc/refresh-metrics.ts";
import { MetricsStage } from "./metrics-fixture.ts";

const stage = await MetricsStage.open();
const byHand = new RefreshesByHand(stage.deps());
afterAll(async () => {
  await byHand[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});
const { sql } = stage;
const routes = createMetricsRoutes({ sql, connectors: { metrics: {} }, byHand });
const client = createTestPeer(routes).client(MetricsService);

async function add(workspaceId: string, given: object) {
  const row = {
    target_id: newId(),
    workspace_id: workspaceId,
    post_id: newId(),
    account_id: newId(),
    platform: "x",
    published_at: "2026-11-10T12:00:00Z",
    due_at: "2026-11-11T00:00:00Z",
    ...given,
  };
  await sql`insert into target_metrics ${sql(row)}`;
  return row;
}

async function history(workspaceId: string, ...targetIds: readonly string[]) {
  const { json } = await client.listMetricsHistory({ workspaceId, targetIds: [...targetIds] });
  return (JSON.parse(json) as MetricsHistoryJson).targets;
}

async function sums(workspaceId: string, more = {}) {
  const range = { from: "2026-11-01", to: "2026-11-30" };
  const { json } = await client.sumMetrics({ workspaceId, ...range, ...more });
  return JSON.parse(json) as MetricsSumsJson;
}

test("the history of a target has its earlier readings and the newest one, oldest first", async () => {
  const workspaceId = newId();
  const target = await add(workspaceId, {
    views: 30,
    likes: 2,
    refreshed_at: "2026-11-10T15:00:00Z",
    due_at: "2026-11-10T18:00:00Z",
  });
  for (const [at, views] of [
    ["2026-11-10T14:00:00Z", 20],
    ["2026-11-10T13:00:00Z", 10],
    ["2026-11-10T15:00:00Z", 30],
  ] as const)
    await sql`
      insert into target_metric_history (target_id, refreshed_at, workspace_id, views, likes)
      values (${target.target_id}, ${at}, ${workspaceId}, ${views}, 2)`;

  const [shown] = await history(workspaceId, target.target_id, newId());
  expect(shown).toMatchObject({
    targetId: target.target_id,
    accountId: target.account_id,
    platform: "x",
    nextReadAt: "2026-11-10T18:00:00.000Z",
  });
  expect(shown?.points.map(({ at, views, likes, saves }) => [at, views, likes, saves])).toEqual([
    ["2026-11-10T13:00:00.000Z", 10, 2, null],
    ["2026-11-10T14:00:00.000Z", 20, 2, null],
    ["2026-11-10T15:00:00.000Z", 30, 2, null],
  ]);
  await sql`update target_metrics set due_at = 'infinity' where target_id = ${target.target_id}`;
  expect(await history(workspaceId, target.target_id)).toMatchObject([{ nextReadAt: null }]);
  expect(await history(newId(), target.target_id)).toEqual([]);
});

test("the sums of a workspace are by the UTC day of publication, with the posts that were seen most", async () => {
  const workspaceId = newId();
  const first = await add(workspaceId, {
    views: 10,
    likes: 1,
    published_at: "2026-11-10T23:59:59Z",
  });
  await add(workspaceId, {
    post_id: first.post_id,
    platform: "bluesky",
    likes: 4,
    published_at: "2026-11-11T00:00:00Z",
  });
  const second = await add(workspaceId, { impressions: 50, published_at: "2026-11-11T08:00:00Z" });
  await add(workspaceId, { views: 99, published_at: "2026-12-01T00:00:00Z" });
  await add(newId(), { views: 99 });

  const found = await sums(workspaceId);
  expect(found.isMore).toBe(false);
  expect(found.days).toMatchObject([
    { day: "2026-11-10", publications: 1, views: 10, likes: 1, impressions: null },
    { day: "2026-11-11", publications: 2, views: null, likes: 4, impressions: 50 },
  ]);
  expect(found.total).toMatchObject({ publications: 3, views: 10, likes: 5, saves: null });
  expect(found.posts).toMatchObject([
    { postId: second.post_id, seen: 50, publications: 1 },
    { postId: first.post_id, seen: 10, publications: 2, publishedAt: "2026-11-10T23:59:59.000Z" },
  ]);
  expect((await sums(workspaceId, { platform: "bluesky" })).total).toMatchObject({ likes: 4 });
  const ofAccount = await sums(workspaceId, { accountId: second.account_id });
  expect(ofAccount.total).toMatchObject({ publications: 1, impressions: 50 });
});

test("a post has a line of how often it was seen in its first 48 hours, summed over its accounts, which ends with its age", async () => {
  const workspaceId = newId();
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  const published = { published_at: hoursAgo(20), due_at: hoursAgo(-1) };
  const first = await add(workspaceId, { ...published, views: 90, refreshed_at: hoursAgo(1) });
  const of = { ...published, post_id: first.post_id };
  await add(workspaceId, { ...of, impressions: 7, refreshed_at: hoursAgo(15) });
  await add(workspaceId, { ...of, platform: "telegram" });
  for (const [hours, views] of [
    [16, 30],
    [9, 60],
  ] as const)
    await sql`
      insert into target_metric_history (target_id, refreshed_at, workspace_id, views)
      values (${first.target_id}, ${hoursAgo(hours)}, ${workspaceId}, ${views})`;

  const range = { from: hoursAgo(48).slice(0, 10), to: hoursAgo(0).slice(0, 10) };
  // After 6 hours 30 and 7, after 12 and after 18 hours 60 and 7.
  expect((await sums(workspaceId, range)).posts).toMatchObject([{ seen: 97, line: [37, 67, 67] }]);
});

test.each([
  [{ from: "2026-13-01" }],
  [{ from: "yesterday" }],
  [{ to: "2026-10-31" }],
  [{ from: "2026-01-01" }],
])("the range %j is refused", async (range) => {
  await expect(sums(newId(), range)).rejects.toMatchObject({ reason: "invalid_request" });
});

test("while 12 reads of the metrics of a workspace wait for the database, requests of another workspace are answered", async () => {
  const workspaceId = newId();
  const { target_id: targetId } = await add(workspaceId, {});
  const release = await holdTransaction(
    stage.database.ownerSql,
    (tx) => tx`lock table delivery.target_metric_history in access exclusive mode`,
  );
  const reads = Array.from({ length: 6 }, () => [
    sums(workspaceId),
    history(workspaceId, targetId),
  ]);
  const ended = Promise.all(reads.flat());

  const other = { workspaceId: newId(), postId: newId(), targetIds: [newId()] };
  expect(await client.refreshMetrics(other)).toMatchObject({ eligible: 0 });

  await release();
  expect(await ended).toHaveLength(12);
});
