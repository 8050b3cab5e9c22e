import { openSql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { expect } from "vitest";
import { findQuotaDrift, findSharedDrift } from "../../../services/posts/test/quota-drift.ts";
import { hasCaughtUp } from "../observers/bus-records.ts";
import type { System } from "../system/system.ts";

/**
 * Failpoints (named places in the code) at which tests kill or suspend a process: before and after
 * a commit, before and after events are sent to the bus, and in the event consumers.
 */
export const CRASH_POINTS = [
  "posts.in-scheduler",
  "posts.scheduler-committed",
  "relay.locked",
  "relay.published",
  "delivery.in-consumer",
  "posts.in-consumer",
];

/**
 * Number of posts that are scheduled, edited, retried or deleted in each test; each post has its
 * own account.
 */
export const POSTS_PER_COMMAND = 2;

/** Returns the ids of the processes that may reach a failpoint. */
export const listCrashingPids = (system: System) => [
  ...system.pids("posts"),
  ...system.pids("delivery"),
];

/**
 * Makes Postgres end the transactions of a suspended process after 3 s instead of 10 to 15 s
 * (`RUNTIME_SETTINGS` of packages/shared), so that the tests wait for less.
 */
export async function shortenTransactions({ sql }: System): Promise<void> {
  const roles = ["postrider_posts", "postrider_delivery"];
  for (const role of roles) {
    await sql`alter role ${sql(role)} set idle_in_transaction_session_timeout = '3s'`;
    await sql`alter role ${sql(role)} set transaction_timeout = '4s'`;
  }
  // Settings of a role apply to connections that are opened afterwards.
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename in ${sql(roles)}`;
}

/**
 * Waits until every post has a final status and no event waits to be published, and checks that the
 * quota counters match the posts.
 */
export async function expectAtRest(system: System): Promise<void> {
  await eventually(async () => {
    const [open] = await system.sql`
      select
        (select count(*)::int from posts.targets where status in ('pending', 'publishing', 'deleting')) as targets,
        (select count(*)::int from posts.outbox) + (select count(*)::int from delivery.outbox) as outbox,
        (select count(*)::int from posts.parked_events) + (select count(*)::int from delivery.parked_events) as parked`;
    expect(open).toEqual({ targets: 0, outbox: 0, parked: 0 });
    expect(await hasCaughtUp(system, "delivery", "posts.events.v1")).toBe(true);
    expect(await hasCaughtUp(system, "posts", "delivery.events.v1")).toBe(true);
  });
  await expectNoQuotaDrift(system);
}

/** Checks that every quota counter of the demo workspace and of all matches the posts. */
async function expectNoQuotaDrift(system: System): Promise<void> {
  const { databaseUrl, workspaceId } = system.local();
  const url = new URL(databaseUrl);
  url.searchParams.set("search_path", "posts");
  const sql = openSql({ url: url.href, poolSize: 1, applicationName: "e2e" });
  try {
    const drift = await sql.begin("isolation level repeatable read", async (tx) => [
      ...(await findQuotaDrift(tx, workspaceId)),
      ...(await findSharedDrift(tx)),
    ]);
    expect(drift).toEqual([]);
  } finally {
    await sql.end();
  }
}
