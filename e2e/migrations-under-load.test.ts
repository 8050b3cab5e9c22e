import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeTestFolder } from "@postrider/local/stack/test-folder";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
  fillPosts,
  startMigration,
  writeMigrations,
  type MigrationProcess,
} from "./support/system/drill-migrations.ts";
import {
  DRILL,
  DRILL_TIMEOUT_MS,
  NOTHING_WRONG,
  printReport,
  startDrillLoad,
} from "./support/system/drill.ts";
import { printFigures } from "./support/system/figures.ts";
import { startSystem, type System } from "./support/system/system.ts";

/** More rows than memory should hold. */
const IS_LARGE = DRILL.posts > 100_000;
const LOAD = { postEvery: 1, platforms: ["bluesky", "x", "facebook"] };
/** Ten million rows take more than an hour on a small machine. */
const TIMEOUT_MS = DRILL_TIMEOUT_MS + DRILL.posts;
const WATCH_MS = 100;

let system: System | undefined;
const folder = mkdtempSync(join(tmpdir(), "postrider-drill-"));
const dataDir = makeTestFolder("migrations", IS_LARGE ? tmpdir() : undefined);
beforeAll(async () => {
  system = await startSystem("postgres", { dataDir });
  await fillPosts(system, DRILL.posts);
}, TIMEOUT_MS);
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  for (const each of [folder, dataDir]) rmSync(each, { recursive: true });
});

/** How long statements of the services waited for a lock of a relation, in ms. */
async function watchLocks({ sql }: System, ended: AbortSignal): Promise<number> {
  let longestMs = 0;
  while (!ended.aborted) {
    const [row] = await sql<{ ms: number | null }[]>`
      select max(extract(epoch from clock_timestamp() - waitstart) * 1000)::float8 as ms
      from pg_locks
      join pg_stat_activity using (pid)
      where locktype = 'relation' and not granted and usename = 'postrider_posts'`;
    longestMs = Math.max(longestMs, row?.ms ?? 0);
    await sleep(WATCH_MS);
  }
  return longestMs;
}

/**
 * Kills a migration while its statement waits for a transaction of this function, and its session,
 * because Postgres would finish the statement of a client that has ended. Statements also wait for
 * each other to extend the table.
 */
async function killWhileWaiting(
  { sql }: System,
  [held, waiting]: readonly [held: string, waiting: string],
  start: () => MigrationProcess,
): Promise<void> {
  await sql.begin("isolation level repeatable read", async (tx) => {
    await tx.unsafe(held);
    const migration = start();
    await eventually(
      async () => {
        const found = await sql`
          select 1
          from pg_stat_activity
          where usename = 'postrider_posts_migration'
          and wait_event_type = 'Lock'
          and wait_event <> 'extend'
          and query like ${`%${waiting}%`}`;
        expect(found).toHaveLength(1);
      },
      { timeoutMs: TIMEOUT_MS },
    );
    migration.kill();
    expect(await migration.ended).toBe("SIGKILL");
    await sql`
      select pg_terminate_backend(pid, 10000)
      from pg_stat_activity
      where usename = 'postrider_posts_migration'`;
  });
}

async function readState({ sql }: System) {
  const [row] = await sql<{ unlabelled: number; indexes: (boolean | null)[] }[]>`
    select
      (select count(*)::int from posts.posts where label is null) as unlabelled,
      array(
        select indisvalid from pg_index where indexrelid = to_regclass('posts.posts_unlabelled')
      ) as indexes`;
  return row;
}

test(
  "while a column of a large table is added, indexed and filled, and the migration is killed twice, every request is answered and every accepted post is published once",
  async () => {
    if (system === undefined) throw new Error("the system has not started");
    const running = system;
    const { sql } = running;
    const index = writeMigrations(join(folder, "index"), DRILL.posts, 2);
    const startIndex = (): MigrationProcess => startMigration(running, index);
    const all = writeMigrations(join(folder, "all"), DRILL.posts);
    const startAll = (): MigrationProcess => startMigration(running, all);
    const posts = DRILL.seconds * DRILL.perSecond;
    const alone = await startDrillLoad(running, LOAD);
    await eventually(() => alone.accepted() >= posts, { timeoutMs: TIMEOUT_MS });
    printReport("without a migration", await alone.stop());

    const watching = new AbortController();
    const locks = watchLocks(running, watching.signal);
    onTestFinished(async () => {
      watching.abort();
      await locks;
    });
    const load = await startDrillLoad(running, LOAD);
    await eventually(() => load.accepted() >= posts / 2, { timeoutMs: TIMEOUT_MS });
    const startedAt = performance.now();
    const seconds = () => Math.round((performance.now() - startedAt) / 1000);
    // An index is valid only after older transactions have ended.
    await killWhileWaiting(running, ["select 1", "create index"], startIndex);
    expect((await readState(running))?.indexes).toEqual([false]);
    printFigures("killed while the index was built, after s", seconds());
    expect(await startIndex().ended).toBe(0);
    expect((await readState(running))?.indexes).toEqual([true]);
    printFigures("the index is built, after s", seconds());
    // Not `offset … for update`, which locks all rows before it too.
    const middle = `
      select 1 from posts.posts
      where id = (select id from posts.posts order by id offset ${Math.floor(DRILL.posts / 2)} limit 1)
      for update`;
    await killWhileWaiting(running, [middle, "update posts"], startAll);
    printFigures("killed in the middle of the rows, after s", seconds());
    const state = await readState(running);
    expect(state?.indexes).toEqual([true]);
    expect(state?.unlabelled).toBeGreaterThanOrEqual(DRILL.posts / 2);
    expect(state?.unlabelled).toBeLessThan(0.6 * DRILL.posts + load.accepted());
    const last = startAll();
    expect(await last.ended).toBe(0);
    watching.abort();
    const longestLockMs = Math.round(await locks);
    const took = { seconds: seconds(), longestLockMs };

    const report = await load.stop();
    printReport("beside the migration", report, took);
    expect(report).toMatchObject(NOTHING_WRONG);
    expect(last.lines().at(-1)).toMatch(/_fill_label\.sql: [1-9]\d* rows are changed$/);
    expect(await readState(running)).toMatchObject({ indexes: [] });
    expect(
      await sql`select 1 from posts.schema_migrations where name like '%_drop_unlabelled.sql'`,
    ).toHaveLength(1);
  },
  TIMEOUT_MS,
);
