import { together } from "@postrider/shared/process/lifecycle";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { startCleaningOldRows } from "#src/jobs/clean-old-rows.ts";
import { newWorkspace, startPostsForFile } from "./fixture.ts";

const posts = await startPostsForFile();

/**
 * Returns the first day of the month that is `months` months from now, as the period of a daily
 * quota counter.
 */
function dayInMonths(months: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1))
    .toISOString()
    .slice(0, "YYYY-MM-DD".length);
}

const monthInMonths = (months: number) => dayInMonths(months).slice(0, "YYYY-MM".length);

async function insertCounter(workspaceId: string, period: string, reserved = 0): Promise<void> {
  await posts.sql`
    insert into quota_usage (workspace_id, subject, period, used, reserved)
    values (${workspaceId}, 'a', ${period}, 3, ${reserved})`;
}

async function periodsOf(workspaceId: string): Promise<readonly string[]> {
  const rows = await posts.sql<{ period: string }[]>`
    select period
    from quota_usage
    where workspace_id = ${workspaceId}`;
  return rows.map(({ period }) => period).toSorted();
}

test("the quota counters of periods before the previous month are deleted, except those with reserved quota", async () => {
  const workspaceId = newWorkspace();
  const kept = [-1, 0, 1, 12].flatMap((months) => [dayInMonths(months), monthInMonths(months)]);
  const past = [-2, -3, -24].flatMap((months) => [dayInMonths(months), monthInMonths(months)]);
  for (const period of [...kept, ...past]) await insertCounter(workspaceId, period);
  const open = dayInMonths(-25);
  await insertCounter(workspaceId, open, 1);

  const logger = createLogger({ service: "test", level: "silent" });
  await using _jobs = together(startCleaningOldRows(posts.sql, logger, 400));

  const expected = [...kept, open].toSorted();
  await eventually(async () => (await periodsOf(workspaceId)).length === expected.length);
  expect(await periodsOf(workspaceId)).toEqual(expected);
});

test("more past quota counters than one statement deletes are all deleted in one run", async () => {
  const workspaceId = newWorkspace();
  await posts.sql`
    insert into quota_usage (workspace_id, subject, period, used)
    select ${workspaceId}, n::text, '2020-01-01', 1
    from generate_series(1, 12000) as n`;

  const logger = createLogger({ service: "test", level: "silent" });
  await using _jobs = together(startCleaningOldRows(posts.sql, logger, 400));

  await eventually(async () => (await periodsOf(workspaceId)).length === 0);
});
