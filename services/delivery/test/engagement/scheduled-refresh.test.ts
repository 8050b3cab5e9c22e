import type { MetricsReading } from "@postrider/platforms/metrics/connector";
import { newId } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import { afterEach, expect, test } from "vitest";
import { resumeAccounts } from "#src/engagement/db/reconnected-accounts.ts";
import { costOfRefresh, toBucket } from "#src/engagement/domain/call-budget.ts";
import type { MetricsRefresher } from "#src/engagement/jobs/refresh-metrics.ts";
import { takeAppUnits } from "#src/engagement/operations/app-units.ts";
import type { TestTarget } from "../publishing/fixture.ts";
import { externalIdOf, MetricsStage, ScriptedPlatform, viewsOnly } from "./metrics-fixture.ts";

let stage: MetricsStage;
afterEach(() => stage[Symbol.asyncDispose]());

const HOUR = { calls: 10, windowMs: 3_600_000 } as const;

async function open(options: ConstructorParameters<typeof ScriptedPlatform>[1] = {}) {
  const x = new ScriptedPlatform("x", options);
  stage = await MetricsStage.open(x);
  return x;
}

/**
 * Runs one pass of the job that refreshes metrics, waits for its calls, and records their results.
 */
async function run(refresher: MetricsRefresher): Promise<void> {
  await refresher.pass();
  await refresher.end();
}

/**
 * Makes the metrics of all accounts and targets due now, as if their waits had ended. Call budgets
 * and rate limits stay.
 */
async function makeDue(): Promise<void> {
  await stage.sql`update target_metrics set due_at = now() where due_at < 'infinity'`;
  await stage.sql`update metrics_accounts set due_at = now(), not_before = now()`;
}

test("due metrics of an account's posts are read in one call and stored, each with a row of history and the next refresh", async () => {
  const x = await open();
  const targets = await stage.publishDue(3);
  await run(stage.refresher());
  expect(x.calls.map(({ externalIds }) => externalIds.toSorted())).toEqual([
    targets.map(externalIdOf).toSorted(),
  ]);
  for (const target of targets) {
    expect(await stage.readRow(target)).toMatchObject({ views: 1, dueInMinutes: 60 });
    expect(await stage.historyOf(target)).toEqual([1]);
  }
  expect((await stage.announced()).length).toBe(3);
  await run(stage.refresher());
  expect(x.calls.length).toBe(1);
});

test("the metrics of an account's posts that do not fit into one call are requested in further calls", async () => {
  const x = await open({ maxPosts: 2 });
  await stage.publishDue(5);
  const refresher = stage.refresher();
  for (let pass = 0; pass < 3; pass += 1) await run(refresher);
  expect(x.calls.map(({ externalIds }) => externalIds.length)).toEqual([2, 2, 1]);
  expect(new Set(x.calls.flatMap(({ externalIds }) => externalIds)).size).toBe(5);
});

test("the metrics of a post that is due within ten minutes are refreshed together with those of a due post", async () => {
  const x = await open();
  const [, soon, later] = await stage.publishDue(3);
  await stage.sql`update target_metrics set due_at = now() + interval '9 minutes' where target_id = ${soon.targetId}`;
  await stage.sql`update target_metrics set due_at = now() + interval '11 minutes' where target_id = ${later.targetId}`;
  await run(stage.refresher());
  expect(x.calls.map(({ externalIds }) => externalIds.length)).toEqual([2]);
});

test("two processes together request the metrics of each due post once", async () => {
  const x = await open({ maxPosts: 2 });
  const all: TestTarget[] = [];
  for (let account = 0; account < 15; account += 1) all.push(...(await stage.publishDue(3)));
  const [first, second] = [stage.refresher(), stage.refresher()];
  await eventually(async () => {
    await Promise.all([run(first), run(second)]);
    return x.calls.flatMap(({ externalIds }) => externalIds).length >= all.length;
  });
  await Promise.all([run(first), run(second)]);
  const asked = x.calls.flatMap(({ externalIds }) => externalIds);
  expect(asked.toSorted()).toEqual(all.map(externalIdOf).toSorted());
});

test("metrics that a crashed process had requested are requested again when its lease has ended", async () => {
  const x = await open();
  const [target] = await stage.publishDue(1);
  const crashed = stage.refresher();
  await crashed.pass();
  await eventually(() => x.calls.length === 1);
  // The process crashes before it stores the answer.
  const next = stage.refresher();
  await run(next);
  expect(x.calls.length).toBe(1);
  await stage.sql`update metrics_accounts set not_before = now()`;
  await run(next);
  expect(x.calls.length).toBe(2);
  expect((await stage.readRow(target))?.views).toBe(2);
});

test("metrics from a process whose lease has ended do not replace newer ones", async () => {
  const x = await open();
  const [target] = await stage.publishDue(1);
  const slow = stage.refresher();
  const { promise, resolve } = Promise.withResolvers<void>();
  x.reactions.push(async ({ externalIds }) => {
    await promise;
    return new Map(externalIds.map((id) => [id, { kind: "metrics", metrics: viewsOnly(100) }]));
  });
  await slow.pass();
  await eventually(() => x.calls.length === 1);
  await stage.sql`update metrics_accounts set not_before = now()`;
  await run(stage.refresher());
  expect((await stage.readRow(target))?.views).toBe(2);
  resolve();
  await slow.end();
  expect((await stage.readRow(target))?.views).toBe(2);
  expect(await stage.historyOf(target)).toEqual([2]);
});

test("after a rate limit of an account's metrics only this account waits, and its posts stay due", async () => {
  const x = await open();
  const [limited] = await stage.publishDue(1);
  x.fail({ kind: "limited", message: "slow down", retryAfterMs: 600_000 });
  await run(stage.refresher());
  const [other] = await stage.publishDue(1);
  await makeDue();
  await run(stage.refresher());
  expect(x.calls.slice(1).flatMap(({ externalIds }) => externalIds)).toEqual([externalIdOf(other)]);
  expect((await stage.readRow(limited))?.dueInMinutes).toBeLessThanOrEqual(0);

  await stage.sql`update metrics_accounts set limited_until = now()`;
  await run(stage.refresher());
  expect(x.calls.at(-1)?.externalIds).toEqual([externalIdOf(limited)]);
});

test("after a rate limit of the whole app no metrics are requested from the platform, and refreshes by hand are deferred", async () => {
  const x = await open({ budget: { scope: "app", calls: 1_000, windowMs: 1_000 } });
  await stage.publishDue(1);
  x.fail({ kind: "limited", message: "slow down", retryAfterMs: 600_000 });
  await run(stage.refresher());
  const other = await stage.publishDue(1);
  await makeDue();
  await run(stage.refresher());
  expect(x.calls.length).toBe(1);
  const byHand = await stage.serve().refresh(other);
  expect([byHand.eligible, byHand.deferred, x.calls.length]).toEqual([1, 1, 1]);

  await stage.sql`update app_budgets set limited_until = now()`;
  await eventually(async () => {
    await run(stage.refresher());
    return x.calls.length === 3;
  });
});

test("a rate limit of a server that the account's owner runs, and further calls to it, count to this account only", async () => {
  const x = await open({
    budget: { scope: "app", calls: 1_000, windowMs: 3_600_000 },
    isForeignHost: () => true,
  });
  const [limited] = await stage.publishDue(1);
  x.reactions.push((_call, _signal, onFurtherCall) => {
    onFurtherCall?.(500);
    return { kind: "limited", message: "slow down", retryAfterMs: 600_000 };
  });
  await run(stage.refresher());
  const [other] = await stage.publishDue(1);
  await makeDue();
  await run(stage.refresher());
  const asked = x.calls.flatMap(({ externalIds }) => externalIds);
  expect(asked).toEqual([externalIdOf(limited), externalIdOf(other)]);
});

test("all processes together do not exceed an app's budget of calls for metrics, even when many accounts wait for it", async () => {
  const x = await open({ budget: { scope: "app", ...HOUR } });
  for (let account = 0; account < 30; account += 1) await stage.publishDue(1);
  const processes = [stage.refresher(), stage.refresher(), stage.refresher()];
  for (let pass = 0; pass < 5; pass += 1) await Promise.all(processes.map(run));
  // A tenth of the call budget may be used at once; the rest becomes usable evenly over the hour.
  expect(x.calls.length).toBe(1);
  await stage.sql`update app_budgets set budget_until = budget_until - interval '30 minutes'`;
  for (let pass = 0; pass < 5; pass += 1) await Promise.all(processes.map(run));
  expect(x.calls.length).toBe(2);
});

test("a call budget that counts posts allows more calls when each call asks for fewer posts, but never more posts in all", async () => {
  const budget = { scope: "app", calls: 100, windowMs: 3_600_000, isPerPost: true } as const;
  const x = await open({ maxPosts: 5, budget });
  for (let account = 0; account < 5; account += 1) await stage.publishDue(1);
  await stage.publishDue(20);
  const processes = [stage.refresher(), stage.refresher()];
  const sizes = () => x.calls.map(({ externalIds }) => externalIds.length);
  for (let pass = 0; pass < 8; pass += 1) await Promise.all(processes.map(run));
  // The call budget allows requests for the metrics of 10 posts at once. A call is made only while
  // the budget allows 5 posts, because one call may contain 5.
  expect(sizes()).toEqual([1, 1, 1, 1, 1, 5]);
  await stage.sql`update app_budgets set budget_until = budget_until - interval '40 minutes'`;
  for (let pass = 0; pass < 8; pass += 1) await Promise.all(processes.map(run));
  expect(sizes().reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(100);
  expect(sizes().slice(6)).toEqual([5, 5]);
});

test("an account with more due posts than its call budget allows waits, and other accounts do not", async () => {
  const x = await open({ maxPosts: 1, budget: { scope: "account", ...HOUR } });
  const [first] = await stage.publishDue(3);
  await stage.publishDue(1);
  const refresher = stage.refresher();
  for (let pass = 0; pass < 4; pass += 1) await run(refresher);
  expect(x.calls.length).toBe(2);
  const [row] = await stage.sql<{ waitMinutes: number }[]>`
    select round(extract(epoch from not_before - now()) / 60)::int as wait_minutes
    from metrics_accounts
    where account_id = ${first.accountId}`;
  expect(row?.waitMinutes).toBe(6);
});

test("a call for metrics that is repeated with a renewed access token is charged to the call budget twice", async () => {
  const x = await open({ budget: { scope: "app", ...HOUR } });
  await stage.publishDue(1);
  x.fail({ kind: "token_refused", message: "expired" });
  await run(stage.refresher());
  expect(x.calls.map(({ token }) => token)).toEqual(["first-token", "second-token"]);
  const [row] = await stage.sql<{ usedMinutes: number }[]>`
    select round(extract(epoch from budget_until - now()) / 60)::int as used_minutes
    from app_budgets`;
  expect(row?.usedMinutes).toBe(12);
});

test("further calls in which a connector reads the metrics of single posts are charged to the call budget too", async () => {
  const x = await open({ budget: { scope: "app", ...HOUR } });
  await stage.publishDue(1);
  x.reactions.push((call, _signal, onFurtherCall) => {
    onFurtherCall?.(0.5);
    onFurtherCall?.(1.5);
    return x.answer(call);
  });
  await run(stage.refresher());
  const [row] = await stage.sql<{ usedMinutes: number }[]>`
    select round(extract(epoch from budget_until - now()) / 60)::int as used_minutes
    from app_budgets`;
  expect(row?.usedMinutes).toBe(18);
});

test("for accounts that must be reconnected, are disconnected or lack the permission, no metrics are requested for hours", async () => {
  const x = await open();
  const [reconnect] = await stage.publishDue(1);
  const [disconnected] = await stage.publishDue(1);
  const [unpermitted] = await stage.publishDue(1);
  stage.world.account(reconnect).status = "reconnect_required";
  stage.world.account(disconnected).status = "disconnected";
  x.fail({ kind: "refused", code: "permission_missing", message: "no permission" });
  await run(stage.refresher());
  await run(stage.refresher());
  expect(x.calls.map(({ externalIds }) => externalIds)).toEqual([[externalIdOf(unpermitted)]]);
  const rows = await stage.sql<{ waitHours: number }[]>`
    select round(extract(epoch from not_before - now()) / 3600)::int as wait_hours
    from metrics_accounts`;
  expect(rows.map(({ waitHours }) => waitHours)).toEqual([6, 6, 6]);
});

test("the metrics of an account that lacked the permission are refreshed as soon as it is connected again", async () => {
  const x = await open();
  const [target] = await stage.publishDue(1);
  x.fail({ kind: "refused", code: "permission_missing", message: "no permission" });
  await run(stage.refresher());
  expect((await stage.readRow(target))?.views).toBeNull();
  await stage.sql.begin((tx) => resumeAccounts(tx, [target]));
  await run(stage.refresher());
  expect((await stage.readRow(target))?.views).toBe(2);
});

test("the metrics of an account's other posts are refreshed when the permission is missing for one post", async () => {
  const x = await open();
  const [refused, other] = await stage.publishDue(2);
  x.reactions.push((call) => {
    const failure = { kind: "refused", code: "permission_missing", message: "no" } as const;
    return new Map([...x.answer(call), [externalIdOf(refused), failure]]);
  });
  await run(stage.refresher());
  await stage.sql`update target_metrics set due_at = now() where target_id = ${other.targetId}`;
  await stage.sql`update metrics_accounts set due_at = now()`;
  await run(stage.refresher());
  expect((await stage.readRow(other))?.views).toBe(2);
});

test("an account that is connected again during a call for its metrics is not paused when that call is refused", async () => {
  const x = await open();
  const [target] = await stage.publishDue(1);
  x.reactions.push(async () => {
    await stage.sql.begin((tx) => resumeAccounts(tx, [target]));
    return { kind: "refused", code: "permission_missing", message: "no permission" };
  });
  await run(stage.refresher());
  await run(stage.refresher());
  expect((await stage.readRow(target))?.views).toBe(2);
});

test("refreshes of metrics wait a minute while the accounts service does not answer", async () => {
  const x = await open();
  const [target] = await stage.publishDue(1);
  stage.world.isUp.accounts = false;
  await run(stage.refresher());
  stage.world.isUp.accounts = true;
  await run(stage.refresher());
  expect(x.calls).toEqual([]);
  await stage.sql`update metrics_accounts set not_before = now()`;
  await run(stage.refresher());
  expect((await stage.readRow(target))?.views).toBe(1);
});

test("a post that the platform reports as missing twice is no longer refreshed, and its stored metrics stay", async () => {
  const x = await open();
  const [target] = await stage.publishDue(1);
  await run(stage.refresher());
  const missing: MetricsReading = { kind: "missing" };
  for (let times = 0; times < 3; times += 1) {
    x.read(missing);
    await makeDue();
    await run(stage.refresher());
  }
  expect(x.calls.length).toBe(3);
  expect(await stage.readRow(target)).toMatchObject({
    views: 1,
    missingCount: 2,
    dueInMinutes: null,
  });
});

test.each<[string, Exclude<MetricsReading, { kind: "metrics" }>, number]>([
  ["a server error", { kind: "failed", message: "500" }, 10],
  ["no answer", { kind: "no_answer", message: "" }, 10],
  ["a refusal", { kind: "refused", code: "content_rejected", message: "no" }, 60],
])(
  "after %s the metrics of a post are requested again later, with growing waits",
  async (_name, reading, minutes) => {
    const x = await open();
    const [target] = await stage.publishDue(1);
    x.read(reading);
    await run(stage.refresher());
    expect(await stage.readRow(target)).toMatchObject({ failureCount: 1, dueInMinutes: minutes });
    x.read(reading);
    await makeDue();
    await run(stage.refresher());
    expect(await stage.readRow(target)).toMatchObject({
      failureCount: 2,
      dueInMinutes: 2 * minutes,
    });
    await makeDue();
    await run(stage.refresher());
    expect(await stage.readRow(target)).toMatchObject({ failureCount: 0, dueInMinutes: 60 });
  },
);

test("posts that became older than seven days while their metrics were due are no longer refreshed", async () => {
  const x = await open();
  const [old, young] = await stage.publishDue(2);
  await stage.sql`update target_metrics set published_at = now() - interval '8 days' where target_id = ${old.targetId}`;
  await run(stage.refresher());
  expect(x.calls.map(({ externalIds }) => externalIds)).toEqual([[externalIdOf(young)]]);
  expect((await stage.readRow(old))?.dueInMinutes).toBeNull();
});

test("posts that are too old for a refresh of metrics do not delay other posts and use no call budget of their account", async () => {
  const x = await open({ maxPosts: 25, budget: { scope: "account", ...HOUR } });
  const old = (await stage.publishDue(25))[0] as TestTarget;
  await stage.sql`update target_metrics set published_at = now() - interval '8 days'`;
  await stage.sql`update metrics_accounts set due_at = due_at - interval '1 minute'`;
  const [young] = await stage.publishDue(1);
  await run(stage.refresher());
  expect(x.calls.map(({ externalIds }) => externalIds)).toEqual([[externalIdOf(young)]]);
  expect(await isBudgetUsed(old)).toBe(false);
  expect(await isBudgetUsed(young)).toBe(true);
});

async function isBudgetUsed(target: TestTarget): Promise<boolean | undefined> {
  const [row] = await stage.sql<{ isUsed: boolean }[]>`
    select budget_until > '-infinity' as is_used
    from metrics_accounts
    where account_id = ${target.accountId}`;
  return row?.isUsed;
}

test("a repeated event about a published target does not make the metrics of its account due", async () => {
  const x = await open({ budget: { scope: "account", ...HOUR } });
  const targets = await stage.publishDue(1);
  await run(stage.refresher());
  const readAccount = () => stage.sql`select due_at, budget_until from metrics_accounts`;
  const before = await readAccount();
  await stage.schedule(targets);
  await run(stage.refresher());
  expect(await readAccount()).toEqual(before);
  expect(x.calls.length).toBe(1);
});

test("no metrics are requested while the data belongs to another deployment", async () => {
  const x = await open();
  await stage.publishDue(1);
  await run(stage.refresher({ deploymentId: "copy" }));
  expect(x.calls).toEqual([]);
});

test("metrics of other platforms are refreshed while one platform does not answer", async () => {
  const [x, bluesky] = [new ScriptedPlatform("x"), new ScriptedPlatform("bluesky")];
  stage = await MetricsStage.open(x, bluesky);
  const refresher = stage.refresher();
  for (let account = 0; account < 25; account += 1) {
    await stage.publishDue(1, "x");
    x.reactions.push(
      (_call, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("aborted")));
        }),
    );
  }
  await eventually(async () => {
    await refresher.pass();
    return x.calls.length === 20;
  });
  const [target] = await stage.publishDue(1, "bluesky");
  await eventually(async () => {
    await refresher.pass();
    return target !== undefined && (await stage.readRow(target))?.views === 1;
  });
  expect(x.calls.length).toBe(20);
  refresher.stop();
  await refresher.end();
});

test("metrics are refreshed while the token server of another workspace does not answer", async () => {
  await open();
  const [slow] = await stage.publishDue(1);
  const [other] = await stage.publishDue(1);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  stage.world.renewing = { accountId: slow.accountId, ended };
  const refresher = stage.refresher();
  const viewsOf = async (target: TestTarget) => (await stage.readRow(target))?.views;
  await eventually(async () => {
    await refresher.pass();
    return (await viewsOf(other)) === 1;
  });
  expect(await viewsOf(slow)).toBeNull();
  end();
  await refresher.end();
  expect(await viewsOf(slow)).toBe(2);
});

test("metrics of one account that cannot be stored do not prevent those of other accounts from being stored", async () => {
  await open();
  const [bad] = await stage.publishDue(1);
  const [good] = await stage.publishDue(1);
  await stage.database.migrationSql`
    alter table target_metric_history
    add constraint refused check (target_id <> ${stage.database.migrationSql.unsafe(`'${bad.targetId}'`)})`;
  await run(stage.refresher());
  expect((await stage.readRow(good))?.views).not.toBeNull();
  expect((await stage.readRow(bad))?.views).toBeNull();
});

test("workspaces take turns: with a scarce budget, one with many accounts that have been due for long delays each other one by one call", async () => {
  const x = await open({ budget: { scope: "app", ...HOUR } });
  const flood = newId();
  for (let account = 0; account < 30; account += 1)
    await stage.publishDue(1, "x", { workspaceId: flood });
  await stage.sql`update metrics_accounts set due_at = now() - interval '1 hour'`;
  const others = [await stage.publishDue(1), await stage.publishDue(1)].flat().map(externalIdOf);
  const refresher = stage.refresher();
  for (let call = 1; call <= 4; call += 1) {
    await eventually(async () => {
      await run(refresher);
      return x.calls.length === call;
    });
    await stage.sql`update app_budgets set budget_until = now()`;
  }
  const asked = x.calls.flatMap(({ externalIds }) => externalIds);
  expect(
    asked
      .slice(0, 3)
      .filter((id) => others.includes(id))
      .toSorted(),
  ).toEqual(others.toSorted());
});

test("workspaces take turns when passes without a usable budget come between the calls", async () => {
  const x = await open({ budget: { scope: "app", ...HOUR } });
  const workspaceOf = new Map<string | undefined, string>();
  for (let workspace = 0; workspace < 4; workspace += 1) {
    const [target] = await stage.publishDue(1);
    workspaceOf.set(externalIdOf(target), target.workspaceId);
  }
  const refresher = stage.refresher();
  for (let call = 1; call <= 8; call += 1) {
    await eventually(async () => {
      await run(refresher);
      return x.calls.length === call;
    });
    await makeDue();
    for (let pass = 0; pass < 3; pass += 1) await run(refresher);
    await stage.sql`update app_budgets set budget_until = now()`;
  }
  const turns = x.calls.map(({ externalIds: [id] }) => workspaceOf.get(id));
  expect(new Set(turns.slice(0, 4))).toEqual(new Set(workspaceOf.values()));
  expect(turns.slice(4)).toEqual(turns.slice(0, 4));
});

test("scheduled refreshes get an equal part of the app's budget while one workspace takes all units it gets for refreshes by hand", async () => {
  const budget = { scope: "app", calls: 100, windowMs: 3_600_000, isPerPost: true } as const;
  const x = await open({ maxPosts: 5, budget });
  await stage.publishDue(5);
  const cost = costOfRefresh(x.connector, 1);
  if (cost === undefined) throw new Error("the budget is not that of the app");
  const call = { platform: "x", workspaceId: newId(), cost };
  const { intervalMs } = toBucket(x.connector);
  const refresher = stage.refresher();
  let byHand = 0;
  for (let unit = 0; unit < 60; unit += 1) {
    while ((await takeAppUnits(stage.sql, call)) === undefined) byHand += 1;
    await run(refresher);
    await makeDue();
    for (const table of ["app_budgets", "app_budget_shares"])
      await stage.sql`
        update ${stage.sql(table)}
        set budget_until = budget_until - ${intervalMs}::float8 * interval '1 millisecond',
          taken_at = taken_at - ${intervalMs}::float8 * interval '1 millisecond'`;
  }
  expect(x.calls.length).toBeGreaterThan(4);
  expect(byHand).toBeGreaterThan(24);
});

test.each(["first", "last"])(
  "of a budget of one unit, scheduled refreshes that ask %s and refreshes by hand both get units without end",
  async (place) => {
    const x = await open({ budget: { scope: "app", calls: 10, windowMs: 3_600_000 } });
    await stage.publishDue(5);
    const cost = costOfRefresh(x.connector, 1);
    if (cost === undefined) throw new Error("the budget is not that of the app");
    const call = { platform: "x", workspaceId: newId(), cost };
    const { intervalMs } = toBucket(x.connector);
    const refresher = stage.refresher();
    let byHand = 0;
    for (let unit = 0; unit < 20; unit += 1) {
      if (place === "first") await run(refresher);
      while ((await takeAppUnits(stage.sql, call)) === undefined) byHand += 1;
      if (place === "last") await run(refresher);
      await makeDue();
      for (const table of ["app_budgets", "app_budget_shares"])
        await stage.sql`
          update ${stage.sql(table)}
          set budget_until = budget_until - ${intervalMs}::float8 * interval '1 millisecond',
            taken_at = taken_at - ${intervalMs}::float8 * interval '1 millisecond'`;
    }
    expect(x.calls.length).toBeGreaterThan(4);
    expect(byHand).toBeGreaterThan(4);
  },
);
