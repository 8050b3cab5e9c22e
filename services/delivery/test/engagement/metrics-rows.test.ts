import { create, toJsonString } from "@bufbuild/protobuf";
import { AccountConnectedSchema } from "@postrider/contracts/accounts/v1/accounts_events_pb";
import {
  DeletionUpdatedSchema,
  TargetUpdatedSchema,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import type { BusRecord } from "@postrider/shared/bus";
import { createBatchHandler } from "@postrider/shared/bus/consumer";
import { newId } from "@postrider/shared/ids";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createEngagementHandlers } from "#src/engagement/consumers/index.ts";
import { thinHistories } from "#src/engagement/db/metrics-history.ts";
import { measureMetrics } from "#src/engagement/jobs/count-backlogs.ts";
import { logger, type TestTarget } from "../publishing/fixture.ts";
import { readSeries } from "../publishing/metric-values.ts";
import { MetricsStage, ScriptedPlatform } from "./metrics-fixture.ts";

let stage: MetricsStage;
let x: ScriptedPlatform;
beforeEach(async () => {
  x = new ScriptedPlatform("x", { budget: { scope: "app", calls: 10, windowMs: 3_600_000 } });
  stage = await MetricsStage.open(x, new ScriptedPlatform("bluesky"));
});
afterEach(() => stage[Symbol.asyncDispose]());

/** Passes events about targets to the metrics part of the delivery service, as the bus does. */
async function consume(...records: BusRecord[]): Promise<void> {
  const topic = "delivery.events.v1";
  const handlers = createEngagementHandlers(["x", "bluesky"])[topic] ?? [];
  const handle = createBatchHandler({ topic, handlers, logger });
  await stage.sql.begin((tx) => handle(tx, records));
}

function published({ workspaceId, postId, targetId }: TestTarget, status = "published"): BusRecord {
  const message = create(TargetUpdatedSchema, { workspaceId, postId, targetId, status });
  return {
    key: postId,
    headers: { ce_id: newId(), ce_type: TargetUpdatedSchema.typeName },
    value: toJsonString(TargetUpdatedSchema, message),
  };
}

function deletion({ workspaceId, postId, targetId }: TestTarget, status: string): BusRecord {
  const message = create(DeletionUpdatedSchema, { workspaceId, postId, targetId, status });
  return {
    key: postId,
    headers: { ce_id: newId(), ce_type: DeletionUpdatedSchema.typeName },
    value: toJsonString(DeletionUpdatedSchema, message),
  };
}

async function insertDeletion(target: TestTarget): Promise<void> {
  const { targetId, workspaceId, postId, accountId, platform } = target;
  await stage.sql`
    insert into deletion_tasks (target_id, deletion, workspace_id, post_id, account_id, platform, external_id, status, wake_at)
    values (${targetId}, 1, ${workspaceId}, ${postId}, ${accountId}, ${platform}, 'x', 'deleted', now())`;
}

test("the metrics of a target are first due an hour after its publication, however many events report the publication", async () => {
  const [target] = await stage.publish("x");
  await consume(published(target, "publishing"));
  expect(await stage.readRow(target)).toBeUndefined();
  await consume(published(target), published(target));
  expect((await stage.readRow(target))?.dueInMinutes).toBe(60);

  await stage.sql`update target_metrics set due_at = now() + interval '3 hours'`;
  await consume(published(target));
  expect((await stage.readRow(target))?.dueInMinutes).toBe(180);
});

test("targets on platforms without metrics get no row, and targets older than seven days are not on the schedule", async () => {
  const [telegram] = await stage.publish("telegram");
  const [old] = await stage.publish("x");
  await stage.sql`update publish_tasks set published_at = now() - interval '8 days'`;
  await consume(published(telegram), published(old));
  expect(await stage.readRow(telegram)).toBeUndefined();
  expect((await stage.readRow(old))?.dueInMinutes).toBeNull();
});

test("the metrics of a deleted post are deleted with their history, and a late event does not create them again", async () => {
  const [target] = await stage.publish("x");
  const [other] = await stage.publish("x");
  await stage.serve().refresh([target]);
  await stage.sql`update app_budgets set budget_until = now()`;
  await stage.serve().refresh([other]);
  await consume(deletion(target, "deleting"), deletion(target, "delete_failed"));
  expect(await stage.historyOf(target)).toEqual([1]);

  await insertDeletion(target);
  await consume(deletion(target, "deleted"));
  await consume(published(target));
  expect(await stage.readRow(target)).toBeUndefined();
  expect(await stage.historyOf(target)).toEqual([]);
  expect(await stage.historyOf(other)).toEqual([2]);
});

test("reconnecting a paused account makes its metrics and polls due at once, except those whose lease a running call holds", async () => {
  const [paused] = await stage.publishDue(1);
  const [leased] = await stage.publishDue(1);
  await stage.sql`
    update metrics_accounts
    set not_before = now() + case
      when account_id = ${paused.accountId} then interval '6 hours'
      else interval '80 seconds'
    end`;
  await stage.sql`
    insert into automation_accounts (account_id, workspace_id, platform, poll_at, failures)
    select account_id, workspace_id, platform, now() + interval '1 hour', case when account_id = ${paused.accountId} then 3 else 0 end
    from metrics_accounts`;
  const records = [paused, leased, paused].map(({ workspaceId, accountId }) => ({
    key: accountId,
    headers: { ce_id: newId(), ce_type: AccountConnectedSchema.typeName },
    value: toJsonString(
      AccountConnectedSchema,
      create(AccountConnectedSchema, { workspaceId, accountId, platform: "x", version: 2n }),
    ),
  }));
  const topic = "accounts.events.v1";
  const handle = createBatchHandler({
    topic,
    handlers: createEngagementHandlers(["x"])[topic] ?? [],
    logger,
  });
  await stage.sql.begin((tx) => handle(tx, records));
  const due = await stage.sql<{ accountId: string }[]>`
    select account_id from metrics_accounts where wake_at <= now()`;
  expect(due).toEqual([{ accountId: paused.accountId }]);
  const polls = await stage.sql`
    select account_id, failures from automation_accounts where poll_at <= now()`;
  expect(polls).toEqual([{ accountId: paused.accountId, failures: 0 }]);
});

test("metrics that arrive for a post that has been deleted are dropped", async () => {
  const [target] = await stage.publish("x");
  x.reactions.push(async (call) => {
    await insertDeletion(target);
    await consume(deletion(target, "deleted"));
    return x.answer(call);
  });
  const response = await stage.serve().refresh([target]);
  expect(response.ready).toBe(0);
  expect(await stage.historyOf(target)).toEqual([]);
  expect(await stage.announced()).toEqual([]);
});

const AGES = `
  select now() - step * interval '15 minutes' as at
  from generate_series(1, 4 * 24 * 500) as step`;

test("the metrics history of a target keeps fewer rows for older times, stays bounded, and ends after 400 days", async () => {
  const [target] = await stage.publish("x");
  await stage.schedule([target]);
  await stage.sql`
    insert into target_metric_history (target_id, refreshed_at, workspace_id, views)
    select ${target.targetId}, age.at, ${target.workspaceId}, 1
    from (${stage.sql.unsafe(AGES)}) as age`;
  await stage.sql`update target_metrics set thin_at = now()`;

  expect(await thinHistories(stage.sql, 100)).toBe(1);
  const [kept] = await stage.sql<Record<string, number>[]>`
    select count(*) filter (where refreshed_at > now() - interval '48 hours')::int as two_days,
      count(*) filter (where refreshed_at between now() - interval '7 days' and now() - interval '49 hours')::int as week,
      count(*) filter (where refreshed_at between now() - interval '90 days' and now() - interval '8 days')::int as season,
      count(*) filter (where refreshed_at between now() - interval '400 days' and now() - interval '91 days')::int as year,
      count(*) filter (where refreshed_at < now() - interval '400 days')::int as older
    from target_metric_history`;
  expect(kept?.twoDays).toBe(191);
  expect(kept?.week).toBeGreaterThanOrEqual(19);
  expect(kept?.week).toBeLessThanOrEqual(21);
  expect(kept?.season).toBeGreaterThanOrEqual(81);
  expect(kept?.season).toBeLessThanOrEqual(83);
  expect(kept?.year).toBeGreaterThanOrEqual(10);
  expect(kept?.year).toBeLessThanOrEqual(12);
  expect(kept?.older).toBe(0);
  // The next pass is a day later, because the metrics history of a target is thinned at most once a
  // day.
  expect(await thinHistories(stage.sql, 100)).toBe(0);
});

test("thinning the metrics history twice keeps the same rows as thinning it once, and a target without history is not checked again", async () => {
  const [target] = await stage.publish("x");
  await stage.serve().refresh([target]);
  await stage.sql`update target_metric_history set refreshed_at = refreshed_at - interval '100 days'`;
  for (let pass = 0; pass < 2; pass += 1) {
    await stage.sql`update target_metrics set thin_at = now()`;
    await thinHistories(stage.sql, 100);
    expect((await stage.historyOf(target)).length).toBe(1);
  }
  await stage.sql`update target_metric_history set refreshed_at = refreshed_at - interval '400 days'`;
  await stage.sql`update target_metrics set thin_at = now()`;
  await thinHistories(stage.sql, 100);
  expect(await stage.historyOf(target)).toEqual([]);
  const [row] = await stage.sql<{ isForGood: boolean }[]>`
    select thin_at = 'infinity' as is_for_good from target_metrics`;
  expect(row?.isForGood).toBe(true);
});

test("the Prometheus gauges show per platform how many targets are due, since when, and how much of the call budget is used", async () => {
  await stage.publishDue(3, "x");
  await stage.publishDue(2, "bluesky");
  await stage.sql`update target_metrics set due_at = now() - interval '10 minutes' where platform = 'x'`;
  await stage.sql`update metrics_accounts set due_at = now() - interval '10 minutes' where platform = 'x'`;
  await measureMetrics(stage.deps());
  const before = await readSeries();
  expect(before('target_metrics_due{platform="x"}')).toBe(3);
  expect(before('target_metrics_due{platform="bluesky"}')).toBe(2);
  expect(before('target_metrics_oldest_due_seconds{platform="x"}')).toBeGreaterThanOrEqual(600);
  expect(before('target_metrics_budget_used_ratio{platform="x"}')).toBe(0);
  expect(before('target_metrics_limited_accounts{platform="x"}')).toBe(0);

  const refresher = stage.refresher();
  await refresher.pass();
  await refresher.end();
  await measureMetrics(stage.deps());
  const after = await readSeries();
  expect(after('target_metrics_budget_used_ratio{platform="x"}')).toBeCloseTo(1, 1);
  const gained = (series: string) => after(series) - before(series);
  const ofSchedule = 'platform="x",trigger="schedule"';
  expect(gained(`target_metrics_refreshes_total{${ofSchedule},outcome="ready"}`)).toBe(3);
  expect(gained(`target_metrics_calls_total{${ofSchedule}}`)).toBe(1);
});
