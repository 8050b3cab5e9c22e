import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { EmbeddedPostgres } from "@postrider/local/postgres/embedded-postgres";
import { findStablePort } from "@postrider/local/processes/free-port";
import { makeTestFolder } from "@postrider/local/stack/test-folder";
import { openSql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { beforeAll, expect, test } from "vitest";
import type { PostRecord } from "./support/requests/api.ts";
import { create, HOUR_MS, inMs } from "./support/requests/posts.ts";
import {
  copyCluster,
  dumpDatabase,
  loadDump,
  recoverFromArchive,
  startDatabase,
} from "./support/system/backup.ts";
import { startSystem, type System } from "./support/system/system.ts";

const PLATFORMS = ["x", "bluesky", "telegram"] as const;
/**
 * Number of scheduled posts, and of posts that wait until an operator resumes publishing to their
 * platforms.
 */
const POSTS = 4;
/** Number of accounts per platform. */
const ACCOUNTS = 4;
const SETTLE_MS = 90_000;

interface Recovery {
  readonly held: boolean;
  readonly heldBecause: string | null;
  readonly openTargets: number;
  readonly restoredAt: string | null;
}

interface Hold {
  readonly tokens: { readonly held: boolean; readonly heldBecause: string | null };
}

/**
 * Makes all access tokens expire, so that they are due for a refresh although no call needs them.
 */
async function expireTokens({ sql }: Pick<System, "sql">): Promise<void> {
  await sql`
    update accounts.credentials
    set issued_at = now() - interval '1 year',
      expires_at = now() - interval '1 minute',
      renew_at = now() - interval '1 minute'
    where expires_at is not null`;
}

/**
 * Makes every scheduled post due, at an instant that is the same in the original system and in its
 * clone.
 */
async function makeDue({ sql }: Pick<System, "sql">, dueAt: string): Promise<void> {
  await sql`update posts.posts set scheduled_at = ${dueAt}::timestamptz where status = 'scheduled'`;
}

/** Runs SQL in a restored database that no service uses yet. */
async function changeDatabase(
  url: string,
  change: (database: Pick<System, "sql">) => Promise<void>,
): Promise<void> {
  const sql = openSql({ url, poolSize: 1, applicationName: "e2e" });
  await change({ sql });
  await sql.end();
}

/** Connects several accounts of each platform. */
async function connectAll(system: System): Promise<readonly (readonly string[])[]> {
  const all: (readonly string[])[] = [];
  for (const platform of PLATFORMS) all.push(await system.connect(platform, ACCOUNTS));
  return all;
}

function accountsOf(all: readonly (readonly string[])[], index: number): string[] {
  return all.map((ids) => ids[index % ids.length] ?? "");
}

async function whenAll(
  system: System,
  posts: readonly Pick<PostRecord, "id">[],
  statuses: Readonly<Record<string, string>>,
): Promise<void> {
  for (const { id } of posts)
    await eventually(
      async () => {
        const { targets } = await system.api.getPost(id);
        const found = targets.map(({ platform, status, error }) => [
          platform,
          [status, ...(error === null ? [] : [error.code])].join(" "),
        ]);
        expect(Object.fromEntries(found)).toEqual(statuses);
      },
      { timeoutMs: SETTLE_MS },
    );
}

/** Lists the texts of posts that readers of a platform do not see, or see more than once. */
async function listWrong(
  system: System,
  posts: readonly Pick<PostRecord, "content">[],
): Promise<readonly string[]> {
  const entries = await system.simulator.visible();
  return PLATFORMS.flatMap((platform) =>
    posts.flatMap(({ content }) => {
      const { length } = entries.filter(
        (entry) => entry.platform === platform && entry.text === content,
      );
      return length === 1 ? [] : [`${platform}: ${content} ${length} times`];
    }),
  );
}

/**
 * Pauses or resumes publishing on every platform; a command is repeated until the services reach
 * the database.
 */
async function forEachPlatform(system: System, command: "pause" | "resume"): Promise<void> {
  for (const platform of PLATFORMS)
    await eventually(() => system.operate(command, "--platform", platform), {
      timeoutMs: SETTLE_MS,
    });
}

const ALL_PUBLISHED = { x: "published", bluesky: "published", telegram: "published" };
/**
 * Status of each platform's target after the restored system has searched the platform for the
 * post. A Telegram bot cannot read its channel, so an operator has to record the outcome of the
 * Telegram target.
 */
const FOUND = { x: "published", bluesky: "published", telegram: "failed outcome_unknown" };

const dataDir = makeTestFolder("restore");
const clusters = mkdtempSync(join(dataDir, "clusters-"));
const [cluster, backup] = [join(clusters, "cluster"), join(clusters, "backup")];
/** When the scheduled posts are due, in the original system and in every restored one. */
const dueAt = inMs(0);
let port: number;
let dump: Awaited<ReturnType<typeof dumpDatabase>>;
/** The post that the original system published before the dump. */
let before: PostRecord;
/** Posts that were scheduled at the time of the dump and of the backup. */
const scheduled: PostRecord[] = [];
/**
 * Posts that were accepted after the dump, and whose publishing was paused at the time of the
 * backup.
 */
const waiting: PostRecord[] = [];
/** A post on a paused account, which the original system never published. */
let neverSent: PostRecord;
/** An account without posts. */
let idleAccount: string;

const all = () => [before, ...scheduled, ...waiting];
const startCluster = (): Promise<EmbeddedPostgres> => startDatabase(cluster, port);

/** Creates the posts, and dumps the database before the posts of `waiting` exist. */
async function makePosts(system: System, url: string): Promise<void> {
  const accounts = await connectAll(system);
  before = await system.api.createPost("published before the dump", accountsOf(accounts, 0));
  await whenAll(system, [before], ALL_PUBLISHED);
  const scheduledAt = inMs(HOUR_MS);
  for (let index = 0; index < POSTS; index += 1) {
    const accountIds = accountsOf(accounts, index);
    scheduled.push(
      await create(system.api, { content: `scheduled ${index}`, accountIds, scheduledAt }),
    );
  }
  const [held = "", idle = ""] = await system.connect("x", 2);
  idleAccount = idle;
  await system.operate("pause", "--account", held);
  neverSent = await system.api.createPost("never sent", [held]);
  dump = await dumpDatabase(url);
  await forEachPlatform(system, "pause");
  for (let index = 0; index < POSTS; index += 1)
    waiting.push(await system.api.createPost(`waiting ${index}`, accountsOf(accounts, index)));
  await eventually(async () => {
    const rows = await system.sql`select 1 from delivery.publish_tasks where status = 'queued'`;
    return rows.length === POSTS * PLATFORMS.length + 1;
  });
}

// The original system publishes all posts after the dump and the backup.
beforeAll(async () => {
  execFileSync("chmod", ["o+x", clusters]);
  port = await findStablePort();
  await using databases = new AsyncDisposableStack();
  const original = databases.use(await startCluster());
  await using system = await startSystem("postgres", {
    dataDir,
    env: { DATABASE_URL: original.url },
  });
  await makePosts(system, original.url);
  // Only Postgres is stopped, so that its files do not change during the backup; the services
  // continue when Postgres is back.
  await original[Symbol.asyncDispose]();
  await copyCluster(cluster, backup);
  databases.use(await startCluster());
  await makeDue(system, dueAt);
  await forEachPlatform(system, "resume");
  await whenAll(system, all(), ALL_PUBLISHED);
  const wrong = await listWrong(system, all());
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
});

// services/delivery/test/publishing/recovery.test.ts goes through every other difference between a
// database and its backup. The tests here show what an operator sees of a restored system.
test("a system whose database was restored on a new Postgres timeline publishes no post twice", async () => {
  rmSync(cluster, { recursive: true });
  await copyCluster(backup, cluster);
  recoverFromArchive(cluster);
  await using database = await startCluster();
  await changeDatabase(database.url, (restored) => makeDue(restored, dueAt));
  await using system = await startSystem("postgres", {
    dataDir,
    env: { DATABASE_URL: database.url },
  });
  const calls = await system.simulator.publishCalls();
  await forEachPlatform(system, "resume");
  await eventually(async () => {
    const { restoredAt, heldBecause } = await system.operate<Recovery>("recovery", "status");
    expect({ heldBecause, isMarked: restoredAt !== null }).toEqual({
      heldBecause: null,
      isMarked: true,
    });
  });
  expect(await system.operate("recovery", "adopt")).toMatchObject({ adopted: false });
  await whenAll(system, [...scheduled, ...waiting], FOUND);
  expect(await listWrong(system, all())).toEqual([]);
  expect(await system.simulator.publishCalls()).toBe(calls);
});

// This test is last, because it refreshes tokens, after which the platforms refuse the tokens of
// the backup.
test("a system on a database dump from another Postgres cluster publishes nothing until an operator adopts the data, and then no post twice", async () => {
  await using clone = await startDatabase(join(clusters, "clone"));
  await loadDump(clone.url, dataDir, dump);
  await changeDatabase(clone.url, async (database) => {
    await makeDue(database, dueAt);
    await expireTokens(database);
  });
  await using system = await startSystem("postgres", {
    dataDir,
    env: { DATABASE_URL: clone.url },
  });
  const calls = await system.simulator.publishCalls();
  const openTargets = POSTS * PLATFORMS.length + 1;
  // All posts have been due for three seconds, and no worker has claimed a task.
  await eventually(
    async () => {
      const rows = await system.sql`
        select 1
        from delivery.publish_tasks
        where status = 'queued'
        and fence = 0
        and wake_at < now() - interval '3 seconds'`;
      expect(rows).toHaveLength(openTargets);
    },
    { timeoutMs: SETTLE_MS },
  );
  const held = { held: true, heldBecause: "system_identifier" };
  expect(await system.operate<Recovery & Hold>("recovery", "status")).toMatchObject({
    ...held,
    restoredAt: null,
    tokens: held,
  });
  // The original system uses the same tokens, so the copied system neither refreshes nor revokes
  // them.
  const answer = await system.api.call("DELETE", `/accounts/${idleAccount}`);
  expect([answer.status, answer.headers.get("x-provider-revocation-reason")]).toEqual([
    204,
    "app_wide_grant",
  ]);
  expect(await system.simulator.publishCalls()).toBe(calls);
  expect(await system.simulator.tokenCalls()).toBe(0);

  const adopted = await system.operate<Recovery>("recovery", "adopt");
  expect(adopted).toMatchObject({ held: false, openTargets });
  const [paused = ""] = neverSent.targets.map(({ accountId }) => accountId);
  await system.operate("resume", "--account", paused);
  await whenAll(system, scheduled, FOUND);
  await whenAll(system, [neverSent], { x: "published" });

  expect(await listWrong(system, all())).toEqual([]);
  const entries = await system.simulator.visible("x");
  expect(entries.filter(({ text }) => text === "never sent")).toHaveLength(1);
  expect(await system.simulator.publishCalls()).toBe(calls + 1);
  expect((await system.operate<Recovery>("recovery", "status")).openTargets).toBe(0);

  const accountIds = before.targets.map(({ accountId }) => accountId);
  const after = await system.api.createPost("after the restore", accountIds);
  // A new post may repeat a publishing call that was made before the restore and that the dump
  // lacks, so delivery searches the platform for new posts as well.
  await whenAll(system, [after], FOUND);
  expect(await system.simulator.tokenCalls()).toBeGreaterThan(0);
});
