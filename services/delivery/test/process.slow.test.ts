import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "@postrider/local/processes/bundle";
import { mp4Media, TestMedia } from "@postrider/platforms/test/test-media";
import { controlSimulator } from "@postrider/platforms/test/test-platform";
import type { BusRecord } from "@postrider/shared/bus";
import { createServiceServer } from "@postrider/shared/connect/server";
import type { Sql } from "@postrider/shared/postgres";
import { compileCacheEnv } from "@postrider/shared/testing/compile-cache";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { ACCEPT_ANYONE, createTestIdentities } from "@postrider/shared/testing/identities";
import { listen } from "@postrider/shared/testing/listen";
import { eventually } from "@postrider/shared/testing/poll";
import { startSimulator } from "@postrider/simulator/simulator";
import { afterAll, expect, test, vi } from "vitest";
import {
  lastDeletion,
  logger,
  openDatabase,
  readTask,
  toDeletionRecord,
  toRecord,
  World,
  type TestTarget,
  untilStatus,
} from "./publishing/fixture.ts";
import { answerPrepareMedia, isPrepareMedia } from "./publishing/media-service.ts";

const MAIN = await bundle(fileURLToPath(new URL("..", import.meta.url)));
/**
 * Timeout for the start of several processes at the same time, which takes long on a slow machine.
 */
vi.setConfig({ testTimeout: 240_000 });
const identities = createTestIdentities();
type Platform = "x" | "telegram" | "bluesky";

/**
 * Starts real delivery processes with a database and simulated platforms of their own. A `World`
 * acts as the posts and accounts services.
 */
class Stage implements AsyncDisposable {
  readonly world = new World();
  readonly failpoints = mkdtempSync(join(tmpdir(), "postrider-failpoints-"));
  readonly #resources = new AsyncDisposableStack();
  readonly #children = new Set<ChildProcess>();
  simulatorUrl = "";
  peerUrl = "";
  mediaUrl = "";

  readonly database: TestDatabase;

  private constructor(database: TestDatabase) {
    this.database = this.#resources.use(database);
  }

  static async open(): Promise<Stage> {
    return await new Stage(await openDatabase()).#start();
  }

  async #start(): Promise<this> {
    const simulator = this.#resources.use(await startSimulator({ host: "127.0.0.1", port: 0 }));
    this.simulatorUrl = simulator.url;
    await this.control("settings", { quotas: false });
    const peers = await createServiceServer({
      routes: this.world.routes,
      access: ACCEPT_ANYONE,
      logger,
    });
    this.peerUrl = await peers.listen({ host: "127.0.0.1", port: 0 });
    this.#resources.defer(() => peers.close());
    this.mediaUrl = await this.#listenMedia();
    return this;
  }

  /** Serves media files to the delivery service as the media service does. */
  async #listenMedia(): Promise<string> {
    const find = (workspaceId: string, id: string): TestMedia | undefined =>
      [...this.world.targets.values()]
        .filter((target) => target.workspaceId === workspaceId)
        .flatMap(({ media }) => media)
        .find((media): media is TestMedia => media instanceof TestMedia && media.id === id);
    const server = createServer((request, response) => {
      if (isPrepareMedia(request)) {
        void answerPrepareMedia(request, response, find);
        return;
      }
      const { url = "", headers } = request;
      const [, , workspaceId = "", id = ""] = (url.split("?")[0] ?? "").split("/");
      const media = find(workspaceId, id);
      const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? [];
      const isOurs = headers["x-identity"] !== undefined && from !== undefined;
      if (!isOurs || media === undefined) response.writeHead(404).end();
      else
        response
          .writeHead(206)
          .end(media.content.subarray(Number(from), Number(to || media.bytes) + 1));
    });
    return this.#resources.use(await listen(server)).url;
  }

  get sql(): Sql {
    return this.database.sql;
  }

  async control<T>(path: string, body?: unknown): Promise<T> {
    const method = body === undefined ? "GET" : "POST";
    return await controlSimulator<T>(this.simulatorUrl, method, path, body);
  }

  async addTarget(platform: Platform, media: readonly TestMedia[] = []): Promise<TestTarget> {
    const target = this.world.addTarget({ platform, media });
    const { accounts } = await this.control<{
      accounts: {
        externalId: string;
        username: string;
        credentials: Record<string, string>;
      }[];
    }>("accounts", { platform });
    const [made] = accounts;
    if (made === undefined) throw new Error("the simulator made no account");
    const account = this.world.account(target);
    account.externalId = made.externalId;
    account.username = made.username;
    account.token =
      made.credentials.accessToken ??
      made.credentials.botToken ??
      (await this.#createSession(made.credentials));
    return target;
  }

  async #createSession({ identifier, appPassword }: Record<string, string>): Promise<string> {
    const url = `${this.simulatorUrl}/bluesky/xrpc/com.atproto.server.createSession`;
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ identifier, password: appPassword }),
    });
    return ((await answer.json()) as { accessJwt: string }).accessJwt;
  }

  /**
   * Returns the only running delivery process of this test environment; starts one if none runs.
   */
  running(): ChildProcess {
    const [child] = this.#live();
    return child ?? this.start();
  }

  #live(): readonly ChildProcess[] {
    return [...this.#children].filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    );
  }

  /** Kills all delivery processes of the test environment except the given one. */
  async keepOnly(kept: ChildProcess): Promise<void> {
    for (const child of this.#live()) if (child !== kept) await kill(child);
  }

  start(role = "publishing"): ChildProcess {
    const child = spawn(process.execPath, [MAIN], {
      stdio: "ignore",
      env: {
        ...compileCacheEnv(),
        PORT: "0",
        METRICS_PORT: "0",
        ROLE: role,
        BUS: "postgres",
        LOG_LEVEL: "silent",
        ...identities.env("delivery"),
        DATABASE_URL: this.database.url,
        POSTS_URL: this.peerUrl,
        ACCOUNTS_URL: this.peerUrl,
        MEDIA_SERVICE_URL: this.mediaUrl,
        MEDIA_KEY: "a key for the addresses of media that is long enough",
        HANDLE_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
        FAILPOINTS_DIR: this.failpoints,
        X_BASE_URL: `${this.simulatorUrl}/x`,
        TELEGRAM_BASE_URL: `${this.simulatorUrl}/telegram`,
        BLUESKY_BASE_URL: `${this.simulatorUrl}/bluesky`,
        VISIBLE_CALL_SECONDS: "2",
        LEASE_SECONDS: "1",
        RECONCILE_TIME_SCALE: "0.001",
        PUBLISH_RETRY_SECONDS: "0.1,0.2",
      },
    });
    this.#children.add(child);
    return child;
  }

  arm(name: string, order: "kill" | "stop"): void {
    writeFileSync(join(this.failpoints, name), order);
  }

  /** Publishes the request to publish the target to the bus, as the posts service does. */
  async request(target: TestTarget): Promise<void> {
    await this.append(toRecord([target]));
  }

  async append({ key, headers, value }: BusRecord): Promise<void> {
    // The database role of the delivery service may not append to the topic of the posts service,
    // so the test appends as the owner of the database.
    const { ownerSql } = this.database;
    await ownerSql`
      insert into bus.records (topic, key, headers, value)
      values ('posts.events.v1', ${key}, ${ownerSql.json(headers)}, ${value})`;
  }

  async listVisible(target: TestTarget) {
    const entries = await this.control<{ text: string; media: { sha256: string }[] }[]>(
      `visible?platform=${target.platform}`,
    );
    return entries.filter(({ text }) => text === target.text);
  }

  async countVisible(target: TestTarget): Promise<number> {
    return (await this.listVisible(target)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#live()) await kill(child);
    await this.#resources.disposeAsync();
    rmSync(this.failpoints, { recursive: true, force: true });
  }
}

async function exited(child: ChildProcess): Promise<void> {
  await eventually(() => child.exitCode !== null || child.signalCode !== null);
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await exited(child);
}

/**
 * Test environments (a database, simulated platforms and a delivery process) that no test uses now.
 */
const free: Stage[] = [];
afterAll(() => Promise.all(free.map((stage) => stage[Symbol.asyncDispose]())));

/**
 * Runs a test in a test environment that no other test uses meanwhile, so that tests run
 * concurrently. The next test in this environment reuses the delivery process that this one leaves,
 * which saves a start: a test has targets of its own, and leaves at most one process.
 */
async function onStage(use: (stage: Stage) => Promise<void>): Promise<void> {
  const stage = free.pop() ?? (await Stage.open());
  try {
    await use(stage);
    free.push(stage);
  } catch (error) {
    await stage[Symbol.asyncDispose]();
    throw error;
  }
}

test.concurrent("a delivery process publishes a target whose publish request arrives on the message bus, and exits with 0 on SIGTERM", () =>
  onStage(async (stage) => {
    const child = stage.running();
    const target = await stage.addTarget("x");

    await stage.request(target);

    await untilStatus(stage.sql, target, "published");
    expect(await stage.countVisible(target)).toBe(1);
    child.kill("SIGTERM");
    await exited(child);
    expect(child.exitCode).toBe(0);
  }));

test.concurrent.each<[string, Platform]>([
  ["delivery.in-consumer", "bluesky"],
  ["delivery.after-claim", "bluesky"],
  ["delivery.before-mark", "bluesky"],
  ["delivery.after-mark", "bluesky"],
  ["delivery.after-mark", "x"],
  ["delivery.after-mark", "telegram"],
  ["delivery.after-call", "bluesky"],
  ["delivery.after-call", "x"],
  ["delivery.after-call", "telegram"],
])(
  "after a delivery process is killed at the failpoint %s, its target on %s is never sent twice",
  (name, platform) =>
    onStage(async (stage) => {
      const target = await stage.addTarget(platform);
      stage.arm(name, "kill");
      const dying = stage.running();
      await stage.request(target);
      await exited(dying);
      expect(dying.signalCode).toBe("SIGKILL");

      stage.start();

      const isEnded = async () =>
        ["published", "failed"].includes((await readTask(stage.sql, target)).status);
      await eventually(isEnded);
      // Telegram cannot be searched for posts. So it stays unknown whether the publishing call was
      // made before the process died, and the call is not repeated.
      const isLost =
        platform === "telegram" && ["delivery.after-mark", "delivery.after-call"].includes(name);
      expect(await readTask(stage.sql, target)).toMatchObject(
        isLost ? { status: "failed", errorCode: "outcome_unknown" } : { status: "published" },
      );
      const count = isLost && name === "delivery.after-mark" ? 0 : 1;
      expect(await stage.countVisible(target)).toBe(count);
    }),
);

test.concurrent.each<[string, Platform]>([
  ["delivery.in-consumer", "x"],
  ["delivery.after-deletion", "x"],
  ["delivery.after-deletion", "telegram"],
  ["delivery.after-deletion", "bluesky"],
])(
  "after a delivery process is killed at the failpoint %s, the next process completes the interrupted deletion on %s",
  (name, platform) =>
    onStage(async (stage) => {
      const target = await stage.addTarget(platform);
      const dying = stage.running();
      await stage.request(target);
      await untilStatus(stage.sql, target, "published");
      const { externalId } = await readTask(stage.sql, target);
      stage.arm(name, "kill");
      await stage.append(toDeletionRecord(target, externalId ?? ""));
      await exited(dying);
      expect(dying.signalCode).toBe("SIGKILL");
      expect(await lastDeletion(stage.sql, target)).toBeUndefined();

      stage.start();

      await eventually(async () => {
        const rows = await stage.sql<{ status: string }[]>`
        select status from deletion_tasks where target_id = ${target.targetId}`;
        return rows[0]?.status === "deleted";
      });
      expect(await stage.countVisible(target)).toBe(0);
    }),
);

test.concurrent.each<Platform>(["x", "telegram"])(
  "a delivery process that is suspended after recording a publishing call does not send it late, and the target on %s is published once",
  (platform) =>
    onStage(async (stage) => {
      const target = await stage.addTarget(platform);
      stage.arm("delivery.after-mark", "stop");
      const stopped = stage.running();
      await stage.request(target);
      await untilStatus(stage.sql, target, "calling");
      const other = stage.start();
      await eventually(async () => (await readTask(stage.sql, target)).status !== "calling");

      stopped.kill("SIGCONT");

      await untilStatus(stage.sql, target, "published");
      expect(await stage.countVisible(target)).toBe(1);
      await stage.keepOnly(other);
    }),
);

test.concurrent.each(["delivery.after-handles", "delivery.after-mark", "delivery.after-call"])(
  "media that a delivery process was publishing when it was killed at the failpoint %s is uploaded once and published once",
  (name) =>
    onStage(async (stage) => {
      const video = mp4Media(9_000_000);
      const target = await stage.addTarget("x", [video]);
      stage.arm(name, "kill");
      const dying = stage.running();
      await stage.request(target);
      await exited(dying);
      expect(dying.signalCode).toBe("SIGKILL");

      stage.start();

      await untilStatus(stage.sql, target, "published");
      const visible = await stage.listVisible(target);
      expect(visible.map(({ media }) => media)).toMatchObject([[{ sha256: video.sha256 }]]);
      const account = stage.world.account(target).externalId;
      const calls = await stage.control<{ path: string; account: string }[]>("requests?platform=x");
      const uploads = calls
        .filter((call) => call.account === account && call.path.startsWith("/2/media/upload/"))
        .map(({ path }) => path.split("/").at(-1));
      expect(uploads).toEqual(["initialize", "append", "append", "append", "finalize"]);
    }),
);

test.concurrent("a platform's answer that arrived while the delivery process was suspended is recorded, and its target counts as published", () =>
  onStage(async (stage) => {
    const target = await stage.addTarget("telegram");
    const rule = { platform: "telegram", operation: "publish", mode: "delay", delayMs: 1500 };
    await stage.control("faults", rule);
    const child = stage.running();
    await stage.request(target);
    await eventually(async () => (await stage.countVisible(target)) === 1);
    child.kill("SIGSTOP");
    const other = stage.start();
    await untilStatus(stage.sql, target, "failed");

    child.kill("SIGCONT");

    await untilStatus(stage.sql, target, "published");
    await stage.keepOnly(other);
  }));

test.concurrent("the metrics of a post are stored once even if a delivery process is killed before it stores the platform's answer", async () => {
  await using stage = await Stage.open();
  const target = await stage.addTarget("x");
  const first = stage.start("all");
  await stage.request(target);
  await untilStatus(stage.sql, target, "published");
  await eventually(async () => (await stage.sql`select 1 from target_metrics`).length === 1);

  stage.arm("delivery.after-metrics-call", "kill");
  await stage.sql`update target_metrics set due_at = now()`;
  await stage.sql`update metrics_accounts set due_at = now()`;
  await eventually(() => first.signalCode === "SIGKILL");
  expect(await stage.sql`select 1 from target_metric_history`).toHaveLength(0);

  stage.start("engagement");
  await stage.sql`update metrics_accounts set not_before = now()`;
  await eventually(async () => (await stage.sql`select 1 from target_metric_history`).length === 1);
  const rows = await stage.sql<{ isShown: boolean }[]>`
    select refreshed_at is not null as is_shown from target_metrics`;
  expect(rows).toEqual([{ isShown: true }]);
});
