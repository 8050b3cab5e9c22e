import { newId } from "@postrider/shared/ids";
import type { SqlFragment } from "@postrider/shared/postgres";
import { explain, type Plan } from "@postrider/shared/testing/explain";
import { afterAll, expect, test } from "vitest";
import { newestPublications } from "#src/engagement/db/inbox.ts";
import { readingSums, sumReadings } from "#src/engagement/db/metrics-history.ts";
import { MetricsStage } from "./metrics-fixture.ts";

const DAY_MS = 86_400_000;
const workspaceId = newId();
const rare = newId();
const RANGE = { from: new Date(Date.now() - 9 * DAY_MS), before: new Date(Date.now() + DAY_MS) };

const stage = await MetricsStage.open();
await stage.sql`
  insert into target_metrics (
    target_id, workspace_id, post_id, account_id, platform, external_id, published_at, due_at, views
  )
  select gen_random_uuid(), ${workspaceId}, gen_random_uuid(),
    case when number = 1 then ${rare}::uuid else md5((number % 50)::text)::uuid end,
    case when number = 1 then 'x' else 'telegram' end, number::text, now() - number * interval '10 seconds', 'infinity', 1
  from generate_series(1, 60000) as number`;
await stage.database.ownerSql`analyze delivery.target_metrics`;
afterAll(() => stage[Symbol.asyncDispose]());

function rowsRead(plan: Plan): number {
  const below = (plan.Plans ?? []).reduce((total, each) => total + rowsRead(each), 0);
  if (plan["Relation Name"] !== "target_metrics") return below;
  return below + plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0);
}

/** How often earlier readings are looked up. */
function lookUps(plan: Plan): number {
  const below = (plan.Plans ?? []).reduce((total, each) => total + lookUps(each), 0);
  return below + (plan["Relation Name"] === "target_metric_history" ? plan["Actual Loops"] : 0);
}

async function countRows(query: SqlFragment): Promise<number> {
  return rowsRead(await explain(stage.sql, query));
}

test.each([
  ["an account with one publication", { accountId: rare, platform: undefined }],
  ["an account without publications", { accountId: newId(), platform: undefined }],
  ["a platform with one publication", { accountId: undefined, platform: "x" }],
])(
  "the sums of metrics of %s read at most 20,001 publications of the workspace",
  async (_, filter) => {
    const query = readingSums(stage.sql, { workspaceId, ...RANGE, ...filter });
    expect(await countRows(query)).toBeLessThanOrEqual(20_001);
  },
);

test("the sums of metrics of an account say that not all publications of the workspace were counted", async () => {
  const of = { workspaceId, ...RANGE, accountId: rare, platform: undefined };
  expect(await sumReadings(stage.sql, of)).toMatchObject({
    isMore: true,
    days: [{ publications: 1, views: 1 }],
  });
});

test("the search for publications with comments reads at most 2,000 publications, also when the others are on platforms without comments", async () => {
  const query = newestPublications(stage.sql, workspaceId, { platforms: ["x"], limit: 10 });
  expect(await countRows(query)).toBeLessThanOrEqual(2_000);
});

test("the lines of the 20 posts that were seen most look each of their points up once, not once for every post", async () => {
  const of = { workspaceId: newId(), ...RANGE, accountId: undefined, platform: undefined };
  await stage.sql`
    insert into target_metrics (
      target_id, workspace_id, post_id, account_id, platform, published_at, due_at, views, refreshed_at
    )
    select gen_random_uuid(), ${of.workspaceId}, md5((number % 25)::text)::uuid, gen_random_uuid(), 'x',
      now() - interval '4 days', 'infinity', number, now()
    from generate_series(1, 100) as number`;
  await stage.sql`
    insert into target_metric_history (target_id, refreshed_at, workspace_id, views)
    select target_id, published_at + interval '3 hours', workspace_id, 1
    from target_metrics
    where workspace_id = ${of.workspaceId}`;
  const { posts } = await sumReadings(stage.sql, of);
  expect(posts).toHaveLength(20);
  expect(posts[0]?.line).toEqual([4, 4, 4, 4, 4, 4, 4, 4]);
  const points = 20 * 4 * 8;
  expect(lookUps(await explain(stage.sql, readingSums(stage.sql, of)))).toBeLessThanOrEqual(points);
});
