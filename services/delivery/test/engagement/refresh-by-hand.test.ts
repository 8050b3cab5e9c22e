import type { MetricsFailure, MetricsReading } from "@postrider/platforms/metrics/connector";
import { newId } from "@postrider/shared/ids";
import { findContext, runInContext } from "@postrider/shared/telemetry/request-context";
import { eventually } from "@postrider/shared/testing/poll";
import { afterEach, beforeEach, expect, test } from "vitest";
import { claimByHand } from "#src/engagement/db/target-metrics.ts";
import { insertPublished, listUpdates, readTask } from "../publishing/fixture.ts";
import { externalIdOf, MetricsStage, ScriptedPlatform, viewsOnly } from "./metrics-fixture.ts";

let stage: MetricsStage;
let x: ScriptedPlatform;
let bluesky: ScriptedPlatform;
beforeEach(async () => {
  x = new ScriptedPlatform("x");
  bluesky = new ScriptedPlatform("bluesky");
  stage = await MetricsStage.open(x, bluesky);
});
afterEach(() => stage[Symbol.asyncDispose]());

const limited = { kind: "limited", message: "slow down", retryAfterMs: 60_000 } as const;
const refused = { kind: "refused", code: "content_rejected", message: "no" } as const;
const noPermission = { kind: "refused", code: "permission_missing", message: "no" } as const;
const tokenRefused = { kind: "token_refused", message: "expired" } as const;

type Response = Awaited<ReturnType<ReturnType<MetricsStage["serve"]>["refresh"]>>;

/** The counters of a response that are not 0. */
const countsOf = ({ eligible, ready, notFound, error, deferred, stale, failed }: Response) =>
  Object.fromEntries(
    Object.entries({ eligible, ready, notFound, error, deferred, stale, failed }).filter(
      ([, count]) => count > 0,
    ),
  );

test("a refresh of metrics by hand requests metrics from each platform once, stores them, publishes events about them and returns them", async () => {
  const targets = await stage.publish("x", "bluesky");
  const before = Date.now();
  const response = await stage.serve().refresh(targets);

  expect(countsOf(response)).toEqual({ eligible: 2, ready: 2 });
  expect(x.calls.map(({ externalIds }) => externalIds)).toEqual([
    targets.slice(0, 1).map(externalIdOf),
  ]);
  expect(response.targets.map(({ targetId }) => targetId).toSorted()).toEqual(
    targets.map(({ targetId }) => targetId).toSorted(),
  );
  expect(response.targets[0]?.metrics).toMatchObject({ views: 1n });
  expect(response.targets[0]?.metrics?.likes).toBeUndefined();
  expect(Number(response.targets[0]?.metrics?.refreshedAt?.seconds) * 1000).toBeGreaterThan(
    before - 60_000,
  );
  expect((await stage.announced()).toSorted()).toEqual(
    targets.map(({ targetId }) => targetId).toSorted(),
  );
  for (const target of targets) expect(await stage.historyOf(target)).toEqual([1]);
});

test.each<[string, MetricsFailure | MetricsReading, object]>([
  ["a rate limit", limited, { deferred: 1 }],
  ["no answer", { kind: "no_answer", message: "" }, { deferred: 1 }],
  ["a refusal", refused, { error: 1 }],
  ["a missing permission", noPermission, { error: 1 }],
  ["a server error", { kind: "failed", message: "500" }, { failed: 1 }],
])(
  "a refresh of metrics by hand that ends with %s of the platform is counted, and stores nothing",
  async (_name, failure, counts) => {
    const targets = await stage.publish("x");
    x.fail(failure as MetricsFailure);
    const response = await stage.serve().refresh(targets);
    expect(countsOf(response)).toEqual({ eligible: 1, ...counts });
    expect(response.targets).toEqual([]);
    expect(await stage.announced()).toEqual([]);
  },
);

test.each<[string, MetricsReading, object]>([
  ["is gone", { kind: "missing" }, { notFound: 1 }],
  ["is rate limited", limited, { deferred: 1 }],
  ["is refused", refused, { error: 1 }],
  ["has no answer", { kind: "no_answer", message: "" }, { deferred: 1 }],
  ["cannot be read", { kind: "failed", message: "" }, { failed: 1 }],
])("a refresh of metrics by hand counts a single post that %s", async (_name, reading, counts) => {
  const targets = await stage.publish("x");
  x.read(reading);
  expect(countsOf(await stage.serve().refresh(targets))).toEqual({ eligible: 1, ...counts });
});

test("an answer without the requested post, an answer with impossible numbers, and an error of the connector each count as failed", async () => {
  const serving = stage.serve();
  const targets = await stage.publish("x");
  x.reactions.push(() => new Map());
  x.read({ kind: "metrics", metrics: viewsOnly(-1) });
  x.read({ kind: "metrics", metrics: viewsOnly(0.5) });
  x.reactions.push(() => Promise.reject(new Error("broken")));
  for (let tries = 0; tries < 4; tries += 1)
    expect(countsOf(await serving.refresh(targets))).toEqual({ eligible: 1, failed: 1 });
  expect(countsOf(await serving.refresh(targets))).toEqual({ eligible: 1, ready: 1 });
});

test("an access token refused in a call for metrics is renewed once, and the account must be reconnected if the new one is refused too", async () => {
  const serving = stage.serve();
  const once = await stage.publish("x");
  x.fail(tokenRefused);
  expect(countsOf(await serving.refresh(once))).toEqual({ eligible: 1, ready: 1 });
  expect(x.calls.map(({ token }) => token)).toEqual(["first-token", "second-token"]);
  expect(stage.world.reconnects).toEqual([]);

  const twice = await stage.publish("x");
  x.read(tokenRefused);
  x.fail(tokenRefused);
  expect(countsOf(await serving.refresh(twice))).toEqual({ eligible: 1, error: 1 });
  expect(stage.world.reconnects.map(({ ref }) => ref?.accountId)).toEqual([twice[0]?.accountId]);
});

test("a refresh of metrics by hand counts targets whose account must be reconnected as error, without a call to the platform", async () => {
  const [target] = await stage.publish("x");
  stage.world.account(target).status = "reconnect_required";
  expect(countsOf(await stage.serve().refresh([target]))).toEqual({ eligible: 1, error: 1 });
  expect(x.calls).toEqual([]);
});

test("a refresh of metrics by hand counts targets as failed while the accounts service does not answer", async () => {
  const targets = await stage.publish("x", "bluesky");
  const serving = stage.serve();
  stage.world.isUp.accounts = false;
  expect(countsOf(await serving.refresh(targets))).toEqual({ eligible: 2, failed: 2 });
  stage.world.isUp.accounts = true;
  expect(countsOf(await serving.refresh(targets))).toEqual({ eligible: 2, ready: 2 });
});

test("a second refresh of metrics by hand within five minutes calls no platform, is counted as deferred, and returns the stored metrics", async () => {
  const targets = await stage.publish("x");
  const serving = stage.serve();
  await serving.refresh(targets);
  const second = await serving.refresh(targets);
  expect(countsOf(second)).toEqual({ eligible: 1, deferred: 1 });
  expect(second.targets[0]?.metrics).toMatchObject({ views: 1n });
  expect(x.calls.length).toBe(1);

  await stage.sql`update target_metrics set asked_by_hand_at = asked_by_hand_at - interval '5 minutes'`;
  expect(countsOf(await serving.refresh(targets))).toEqual({ eligible: 1, ready: 1 });
});

test("a scheduled refresh does not defer the next refresh of metrics by hand", async () => {
  const targets = await stage.publishDue(1);
  const refresher = stage.refresher();
  await refresher.pass();
  await refresher.end();
  expect(await stage.historyOf(targets[0])).toEqual([1]);
  expect(countsOf(await stage.serve().refresh(targets))).toEqual({ eligible: 1, ready: 1 });
});

test("a refresh of metrics by hand that fails leaves the schedule of the target unchanged", async () => {
  const targets = await stage.publish("x");
  await stage.schedule(targets);
  x.fail(refused);
  await stage.serve().refresh(targets);
  expect(await stage.readRow(targets[0])).toMatchObject({ failureCount: 0, dueInMinutes: 60 });
});

test("a refresh of metrics by hand that the platform answered replaces the next scheduled refresh", async () => {
  const targets = await stage.publishDue(1);
  expect((await stage.readRow(targets[0]))?.dueInMinutes).toBe(0);
  await stage.serve().refresh(targets);
  expect((await stage.readRow(targets[0]))?.dueInMinutes).toBe(60);
  const refresher = stage.refresher();
  await refresher.pass();
  await refresher.end();
  expect(x.calls.length).toBe(1);
});

test("simultaneous refreshes by hand of the metrics of one post in two processes make one platform call", async () => {
  const targets = await stage.publish("x", "bluesky");
  const [first, second] = [stage.serve({ deferMs: 0 }), stage.serve({ deferMs: 0 })];
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const platform of [x, bluesky])
    platform.reactions.push(async (call) => {
      await promise;
      return platform.answer(call);
    });
  const winner = first.refresh(targets);
  await eventually(() => x.calls.length === 1 && bluesky.calls.length === 1);
  const others = await Promise.all([second.refresh(targets), first.refresh(targets)]);
  resolve();
  expect(countsOf(await winner)).toEqual({ eligible: 2, ready: 2 });
  for (const other of others) expect(countsOf(other)).toEqual({ eligible: 2, deferred: 2 });
  expect([x.calls.length, bluesky.calls.length]).toEqual([1, 1]);
});

test("a refresh of metrics by hand that takes too long is counted as deferred in the response, and the platform's answer is stored later", async () => {
  const [slow, fast] = await stage.publish("x", "bluesky");
  const { promise, resolve } = Promise.withResolvers<void>();
  x.reactions.push(async (call) => {
    await promise;
    return x.answer(call);
  });
  const response = await stage.serve({ waitMs: 300 }).refresh([slow, fast]);
  expect(countsOf(response)).toEqual({ eligible: 2, ready: 1, deferred: 1 });
  expect(response.targets.map(({ targetId }) => targetId)).toEqual([fast.targetId]);

  resolve();
  await eventually(async () => (await stage.readRow(slow))?.views === 1);
  expect((await stage.announced()).toSorted()).toEqual([slow.targetId, fast.targetId].toSorted());
});

test("the call of a refresh by hand has no deadline of the request, which it may outlast", async () => {
  const [target] = await stage.publish("x");
  const seen: unknown[] = [];
  x.reactions.push((call) => {
    seen.push(findContext());
    return x.answer(call);
  });
  const context = { requestId: "request", deadlineAt: performance.now() + 60_000 };
  await runInContext(context, () => stage.serve().refresh([target]));
  expect(seen).toEqual([{ requestId: "request" }]);
});

test("metrics that are older than the stored ones are counted as stale and change nothing", async () => {
  const targets = await stage.publish("x");
  const target = targets[0];
  const serving = stage.serve();
  x.reactions.push(async (call) => {
    // Another process requests the metrics later, but is answered first.
    await stage.sql`
      update target_metrics
      set refreshed_at = now() + interval '1 second',
        views = 77`;
    return x.answer(call);
  });
  const response = await serving.refresh(targets);
  expect(countsOf(response)).toEqual({ eligible: 1, stale: 1 });
  expect(response.targets[0]?.metrics).toMatchObject({ views: 77n });
  expect((await stage.readRow(target))?.views).toBe(77);
  expect(await stage.historyOf(target)).toEqual([]);
  expect(await stage.announced()).toEqual([]);
});

test("after a rate limit no metrics are requested for the account before the time that the platform named", async () => {
  const targets = await stage.publish("x");
  const serving = stage.serve();
  x.fail(limited);
  await serving.refresh(targets);
  expect(countsOf(await serving.refresh(targets))).toEqual({ eligible: 1, deferred: 1 });
  expect(x.calls.length).toBe(1);
  await stage.sql`update metrics_accounts set limited_until = limited_until - interval '60 seconds'`;
  expect(countsOf(await serving.refresh(targets))).toEqual({ eligible: 1, ready: 1 });
});

test("a refresh of metrics by hand counts a target as deferred while the platform has not returned the post id of the target", async () => {
  const target = stage.world.addTarget();
  await insertPublished(stage.sql, [{ target, externalId: "" }]);
  const serving = stage.serve();
  expect(countsOf(await serving.refresh([target]))).toEqual({ eligible: 1, deferred: 1 });
  expect((await stage.readRow(target))?.dueInMinutes).toBeNull();

  await stage.sql`update publish_tasks set external_id = 'found-later'`;
  await stage.schedule([target]);
  expect((await stage.readRow(target))?.dueInMinutes).toBe(60);
  expect(countsOf(await serving.refresh([target]))).toEqual({ eligible: 1, ready: 1 });
});

test("RefreshMetrics leaves targets of other workspaces or posts, unknown ones and those without metrics out of all counters", async () => {
  const [target] = await stage.publish("x");
  const [other] = await stage.publish("x");
  const [telegram] = await stage.publish("telegram");
  const { rpc } = stage.serve();
  const { workspaceId, postId } = target;
  const ids = [other.targetId, telegram.targetId, newId()];
  const response = await rpc.refreshMetrics({ workspaceId, postId, targetIds: ids });
  expect(countsOf(response)).toEqual({});
  const foreign = { workspaceId: other.workspaceId, postId, targetIds: [target.targetId] };
  expect(countsOf(await rpc.refreshMetrics(foreign))).toEqual({});
  const own = { workspaceId, postId, targetIds: [target.targetId, target.targetId, ...ids] };
  expect(countsOf(await rpc.refreshMetrics(own))).toEqual({ eligible: 1, ready: 1 });
});

test("a refresh of metrics by hand leaves out a post that was deleted from its platform, even if no event about that has arrived", async () => {
  const targets = await stage.publish("x");
  const { targetId, workspaceId, postId, accountId, platform } = targets[0];
  await stage.sql`
    insert into deletion_tasks (target_id, deletion, workspace_id, post_id, account_id, platform, external_id, status, wake_at)
    values (${targetId}, 1, ${workspaceId}, ${postId}, ${accountId}, ${platform}, 'x', 'deleted', now())`;
  expect(countsOf(await stage.serve().refresh(targets))).toEqual({});
});

test("a refresh of metrics by hand whose process crashed before it stored the answer can be repeated when its lease has ended", async () => {
  const targets = await stage.publish("x");
  const { workspaceId, postId, targetId } = targets[0];
  await stage.schedule(targets);
  const crashed = { workspaceId, postId, targetIds: [targetId], platforms: ["x"] };
  expect(await claimByHand(stage.sql, crashed, { deferMs: 300_000, leaseMs: 60_000 })).toHaveLength(
    1,
  );

  const serving = stage.serve();
  expect(countsOf(await serving.refresh(targets))).toEqual({ eligible: 1, deferred: 1 });
  await stage.sql`update target_metrics set asking_until = now()`;
  expect(countsOf(await serving.refresh(targets))).toEqual({ eligible: 1, ready: 1 });
});

test("a process that stops aborts its refreshes of metrics by hand, and their targets can be refreshed again at once", async () => {
  const targets = await stage.publish("x");
  const stopping = stage.serve({ waitMs: 0 });
  x.reactions.push(
    (_call, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")));
      }),
  );
  await stopping.refresh(targets);
  await eventually(() => x.calls.length === 1);
  await stopping.byHand[Symbol.asyncDispose]();
  expect(countsOf(await stage.serve().refresh(targets))).toEqual({ eligible: 1, ready: 1 });
});

test.each([
  ["more than 100 targets", { targetIds: Array.from({ length: 101 }, () => newId()) }],
  ["a malformed target id", { targetIds: ["nonsense"] }],
  ["a malformed post id", { postId: "nonsense" }],
])("RefreshMetrics refuses a request with %s", async (_name, change) => {
  const request = { workspaceId: newId(), postId: newId(), targetIds: [newId()], ...change };
  await expect(stage.serve().rpc.refreshMetrics(request)).rejects.toThrow("invalid_request");
});

test.each(["app", "account"] as const)(
  "all calls of a metrics refresh by hand are charged to the call budget of the %s, also those repeated with a renewed access token",
  async (scope) => {
    const budget = { scope, calls: 100, windowMs: 100 * 60_000 };
    const platform = new ScriptedPlatform("x", { budget });
    await using own = await MetricsStage.open(platform);
    await own.sql`
      insert into app_budgets (platform, name)
      values ('x', 'metrics')
      on conflict do nothing`;
    const targets = await own.publish("x");
    platform.fail(tokenRefused);
    await own.serve().refresh(targets);
    expect(platform.calls).toHaveLength(2);
    const [row] = await own.sql<{ usedMinutes: number }[]>`
      select round(extract(epoch from max(budget_until) - now()) / 60)::int as used_minutes
      from ${own.sql(scope === "app" ? "app_budgets" : "metrics_accounts")}`;
    // Each call uses a unit, which becomes usable again after a little more than a minute.
    expect(row?.usedMinutes).toBe(2);
  },
);

test("refreshes by hand of one workspace use at most half of the calls that the budget of the app allows at once, and another workspace finds the rest", async () => {
  const budget = { scope: "app", calls: 100, windowMs: 3_600_000 } as const;
  const youtube = new ScriptedPlatform("youtube", { budget });
  await using own = await MetricsStage.open(youtube);
  const process = own.serve();
  const accounts = Array.from({ length: 8 }, () => "youtube" as const);
  const response = await process.refresh(await own.publish(...accounts));
  expect(countsOf(response)).toEqual({ eligible: 8, ready: 5, deferred: 3 });
  expect(youtube.calls.length).toBe(5);
  const other = await process.refresh(await own.publish("youtube"));
  expect(countsOf(other)).toEqual({ eligible: 1, ready: 1 });
});

test("a published post that its platform has ceased to show gets an error and one event, however often its metrics are read", async () => {
  const [target, imported] = [...(await stage.publish("x")), ...(await stage.publish("x"))];
  const caveat = { code: "content_rejected", message: "rejected later" } as const;
  const { refresh } = stage.serve({ deferMs: 0 });
  // As a row of an export whose author names the target of another workspace.
  const names = { workspaceId: newId(), targetId: imported.targetId };
  await stage.deps().reportCaveats([{ ...names, externalId: externalIdOf(imported), caveat }]);
  x.read({ kind: "metrics", metrics: viewsOnly(1), caveat });
  x.read({ kind: "metrics", metrics: viewsOnly(2), caveat });
  for (const _ of [1, 2])
    expect(countsOf(await refresh([target]))).toEqual({ eligible: 1, ready: 1 });

  expect(await readTask(stage.sql, target)).toMatchObject({
    status: "published",
    errorCode: "content_rejected",
  });
  expect(await listUpdates(stage.sql, target)).toMatchObject([
    { status: "published", errorMessage: "rejected later", isLaterUpdate: true },
  ]);
  expect(await readTask(stage.sql, imported)).toMatchObject({ errorCode: null });
});
