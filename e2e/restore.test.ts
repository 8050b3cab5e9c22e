import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { EmbeddedPostgres } from "@postrider/local/embedded-postgres";
import { findStablePort } from "@postrider/local/free-port";
import { makeTestFolder } from "@postrider/local/test-folder";
import { openSql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import type { PostRecord } from "./support/api.ts";
import {
  copyCluster,
  dumpDatabase,
  loadDump,
  recoverFromArchive,
  startDatabase,
} from "./support/backup.ts";
import { create, HOUR_MS, inMs } from "./support/posts.ts";
import { startSystem, type System } from "./support/system.ts";

const PLATFORMS = ["x", "bluesky", "telegram"] as const;
const POSTS = 50;
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

/** Makes all access tokens expire, so that they are due for a refresh although no call needs them. */
async function expireTokens({ sql }: Pick<System, "sql">): Promise<void> {
  await sql`
    update accounts.credentials
    set issued_at = now() - interval '1 year',
      expires_at = now() - interval '1 minute',
      renew_at = now() - interval '1 minute'
    where expires_at is not null`;
}

/** Makes every scheduled post due, at an instant that is the same in the original system and in its clone. */
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

/** Connects ten accounts of each platform. */
async function connectAll(system: System): Promise<readonly (readonly string[])[]> {
  const all: (readonly string[])[] = [];
  for (const platform of PLATFORMS) all.push(await system.connect(platform, 10));
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
  for (const { id } of posts) {
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

const ALL_PUBLISHED = { x: "published", bluesky: "published", telegram: "published" };
/**
 * Status of each platform's target after the restored system has searched the platform for the post. A Telegram bot
 * cannot read its channel, so an operator has to record the outcome there.
 */
const FOUND = { x: "published", bluesky: "published", telegram: "failed outcome_unknown" };

test("a system whose database dump was loaded into another Postgres cluster publishes nothing until an operator makes the system the owner of the data, and then publishes no post twice", async () => {
  const dataDir = makeTestFolder("restore");
  const clusters = mkdtempSync(join(dataDir, "clusters-"));
  execFileSync("chmod", ["o+x", clusters]);
  const posts: PostRecord[] = [];
  const neverSent: PostRecord[] = [];
  const dueAt = inMs(0);
  let idleAccount = "";
  let dump: Awaited<ReturnType<typeof dumpDatabase>>;
  {
    await using original = await startDatabase(join(clusters, "original"));
    await using system = await startSystem("postgres", {
      dataDir,
      env: { DATABASE_URL: original.url },
    });
    const all = await connectAll(system);
    const before = await system.api.createPost("published before the dump", accountsOf(all, 0));
    await whenAll(system, [before], ALL_PUBLISHED);
    posts.push(before);
    const scheduledAt = inMs(HOUR_MS);
    for (let index = 0; index < POSTS; index += 1) {
      const body = {
        content: `scheduled ${index}`,
        accountIds: accountsOf(all, index),
        scheduledAt,
      };
      posts.push(await create(system.api, body));
    }
    const [held = "", idle = ""] = await system.connect("x", 2);
    await system.operate("pause", "--account", held);
    neverSent.push(await system.api.createPost("never sent", [held]));
    idleAccount = idle;

    dump = await dumpDatabase(original.url);
    await makeDue(system, dueAt);

    await whenAll(system, posts, ALL_PUBLISHED);
    expect(await listWrong(system, posts)).toEqual([]);
  }

  await using clone = await startDatabase(join(clusters, "clone"));
  await loadDump(clone.url, dataDir, dump);
  await changeDatabase(clone.url, async (database) => {
    await makeDue(database, dueAt);
    await expireTokens(database);
  });
  await using system = await startSystem("postgres", {
    dataDir,
    replicas: 2,
    env: { DATABASE_URL: clone.url },
  });
  const calls = await system.simulator.publishCalls();
  // All posts have been due for three seconds, and no worker has claimed a task.
  await eventually(
    async () => {
      const rows = await system.sql`
        select 1
        from delivery.publish_tasks
        where status = 'queued'
        and fence = 0
        and wake_at < now() - interval '3 seconds'`;
      expect(rows).toHaveLength(POSTS * PLATFORMS.length + 1);
    },
    { timeoutMs: SETTLE_MS },
  );
  const held = { held: true, heldBecause: "system_identifier" };
  expect(await system.operate<Recovery & Hold>("recovery", "status")).toMatchObject({
    ...held,
    restoredAt: null,
    tokens: held,
  });
  // The original system uses the same tokens, so the copied system neither refreshes nor revokes them.
  const answer = await system.api.call("DELETE", `/accounts/${idleAccount}`);
  expect([answer.status, answer.headers.get("x-provider-revocation-reason")]).toEqual([
    204,
    "app_wide_grant",
  ]);
  expect(await system.simulator.publishCalls()).toBe(calls);
  expect(await system.simulator.tokenCalls()).toBe(0);

  const adopted = await system.operate<Recovery>("recovery", "adopt");
  expect(adopted).toMatchObject({ held: false, openTargets: POSTS * PLATFORMS.length + 1 });
  const [paused = ""] = (neverSent[0]?.targets ?? []).map(({ accountId }) => accountId);
  await system.operate("resume", "--account", paused);
  await whenAll(system, posts.slice(1), FOUND);
  await whenAll(system, neverSent, { x: "published" });

  expect(await listWrong(system, posts)).toEqual([]);
  const entries = await system.simulator.visible("x");
  expect(entries.filter(({ text }) => text === "never sent")).toHaveLength(1);
  expect(await system.simulator.publishCalls()).toBe(calls + 1);
  expect((await system.operate<Recovery>("recovery", "status")).openTargets).toBe(0);

  const accountIds = (posts[0]?.targets ?? []).map(({ accountId }) => accountId);
  const after = await system.api.createPost("after the restore", accountIds);
  // A new post may repeat a publishing call that was made before the restore and that the dump lacks, so delivery searches the
  // platform for new posts as well.
  await whenAll(system, [after], FOUND);
  expect(await system.simulator.tokenCalls()).toBeGreaterThan(0);
});

test.each([
  {
    name: "on a new Postgres timeline",
    change: (cluster: string) => recoverFromArchive(cluster),
    env: {},
    heldBecause: null,
  },
  {
    name: "for another deployment",
    change: () => undefined,
    env: { DEPLOYMENT_ID: "restored" },
    heldBecause: "deployment",
  },
])(
  "a system whose database was restored $name publishes no post twice",
  async ({ change, env, heldBecause }) => {
    const dataDir = makeTestFolder("restore");
    const clusters = mkdtempSync(join(dataDir, "clusters-"));
    execFileSync("chmod", ["o+x", clusters]);
    const [cluster, backup] = [join(clusters, "cluster"), join(clusters, "backup")];
    const posts: PostRecord[] = [];
    const port = await findStablePort();
    let url = "";
    const startCluster = async (): Promise<EmbeddedPostgres> => {
      const database = await startDatabase(cluster, port);
      url = database.url;
      return database;
    };
    const start = (more: Readonly<Record<string, string>> = {}) =>
      startSystem("postgres", { dataDir, env: { DATABASE_URL: url, ...more } });
    {
      await using databases = new AsyncDisposableStack();
      const before = databases.use(await startCluster());
      await using system = await start();
      const all = await connectAll(system);
      for (const platform of PLATFORMS) await system.operate("pause", "--platform", platform);
      for (let index = 0; index < POSTS; index += 1)
        posts.push(await system.api.createPost(`waiting ${index}`, accountsOf(all, index)));
      await eventually(async () => {
        const rows = await system.sql`select 1 from delivery.publish_tasks where status = 'queued'`;
        return rows.length === POSTS * PLATFORMS.length;
      });
      // Only Postgres is stopped, so that its files do not change during the backup; the services continue when Postgres
      // is back.
      await before[Symbol.asyncDispose]();
      await copyCluster(cluster, backup);
      databases.use(await startCluster());
      for (const platform of PLATFORMS)
        await eventually(() => system.operate("resume", "--platform", platform), {
          timeoutMs: SETTLE_MS,
        });
      await whenAll(system, posts, ALL_PUBLISHED);
      expect(await listWrong(system, posts)).toEqual([]);
    }
    rmSync(cluster, { recursive: true });
    await copyCluster(backup, cluster);
    change(cluster);

    await using _database = await startCluster();
    await using system = await start(env);
    const calls = await system.simulator.publishCalls();
    for (const platform of PLATFORMS) await system.operate("resume", "--platform", platform);
    const isHeld = heldBecause !== null;
    await eventually(async () => {
      const { restoredAt, ...status } = await system.operate<Recovery>("recovery", "status");
      expect({ ...status, isMarked: restoredAt !== null }).toMatchObject({
        heldBecause,
        isMarked: !isHeld,
      });
    });
    expect(await system.operate("recovery", "adopt")).toMatchObject({ adopted: isHeld });
    await whenAll(system, posts, FOUND);
    expect(await listWrong(system, posts)).toEqual([]);
    expect(await system.simulator.publishCalls()).toBe(calls);
  },
);
