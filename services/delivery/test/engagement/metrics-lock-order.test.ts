import { openSql, type Sql, type TransactionSql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { claimByHand, deleteTargetMetrics } from "#src/engagement/db/target-metrics.ts";
import { toBucket } from "#src/engagement/domain/call-budget.ts";
import { recordQuestions } from "#src/engagement/operations/record-metrics.ts";
import { insertPublished } from "../publishing/fixture.ts";
import { MetricsStage, ScriptedPlatform, viewsOnly } from "./metrics-fixture.ts";

interface Pair {
  readonly low: string;
  readonly high: string;
  readonly workspaceId: string;
  readonly postId: string;
  readonly accountId: string;
}

const x = new ScriptedPlatform("x");

async function record(sql: Sql, { low, high, workspaceId, accountId }: Pair): Promise<void> {
  const targets = [high, low].map((targetId) => ({
    targetId,
    workspaceId,
    accountId,
    platform: "x",
    externalId: targetId,
    askedAt: new Date(),
    ageMs: 0,
    failureCount: 0,
    missingCount: 0,
  }));
  const outcome = { kind: "read", metrics: viewsOnly(1) } as const;
  const outcomes = new Map(targets.map(({ targetId }) => [targetId, outcome]));
  const answer = { outcomes, calls: 1, units: 1, pauseMs: 0, limitedForMs: 0 };
  const bucket = toBucket(x.connector);
  const question = { accountId, platform: "x", bucket, targets, expired: [], answer };
  const deps = { sql, onEvents: () => undefined, reportCaveats: () => Promise.resolve() };
  await recordQuestions(deps, [{ ...question, trigger: "hand" }]);
}

test.each<[string, (sql: Sql, pair: Pair) => Promise<unknown>]>([
  [
    "a claim of targets for a refresh by hand",
    (sql, { low, high, workspaceId, postId }) =>
      claimByHand(
        sql,
        { workspaceId, postId, targetIds: [high, low], platforms: ["x"] },
        { deferMs: 1_000, leaseMs: 1_000 },
      ),
  ],
  ["a record of refreshed metrics", record],
  [
    "a deletion of metrics",
    (sql, { low, high }) => sql.begin((tx) => deleteTargetMetrics(tx, [high, low])),
  ],
])("%s locks targets in the order of their ids, so that it never deadlocks", async (_name, run) => {
  await using stage = await MetricsStage.open(x);
  const first = stage.world.addTarget();
  const second = stage.world.addTarget({ ...first, targetId: crypto.randomUUID() });
  const [low, high] = [first, second].toSorted((a, b) => (a.targetId < b.targetId ? -1 : 1));
  if (low === undefined || high === undefined) throw new Error("no targets");
  // The row with the higher id comes first in the table, so that a sequential scan reaches it
  // first.
  for (const target of [high, low]) {
    await insertPublished(stage.sql, [{ target, externalId: target.targetId }]);
    await stage.schedule([target]);
  }
  const { workspaceId, postId, accountId } = first;
  const url = stage.database.url;
  const pool = openSql({ url, poolSize: 1, applicationName: "test-waiting" });
  let running: Promise<unknown> = Promise.resolve();
  await stage.sql.begin(async (tx) => {
    await lock(tx, low.targetId);
    const pair = { low: low.targetId, high: high.targetId, workspaceId, postId, accountId };
    running = run(pool, pair);
    running.catch(() => undefined);
    await eventually(async () => {
      const rows = await stage.sql`
        select 1
        from pg_stat_activity
        where datname = current_database()
        and application_name = 'test-waiting'
        and wait_event_type = 'Lock'`;
      return rows.length === 1;
    });
    // While the statement waits for the row with the lower id, it holds no lock on the row with the
    // higher one.
    expect(await lock(tx, high.targetId)).toBe(1);
  });
  await running;
  await pool.end({ timeout: 1 });
});

/** Tries to lock the row of a target without waiting. Returns the number of locked rows. */
async function lock(tx: TransactionSql, targetId: string): Promise<number> {
  const rows = await tx`
    select 1
    from target_metrics
    where target_id = ${targetId}
    for no key update nowait`;
  return rows.length;
}
