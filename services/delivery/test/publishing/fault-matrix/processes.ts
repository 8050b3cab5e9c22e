import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ConnectRouter } from "@connectrpc/connect";
import { bundle } from "@postrider/local/processes/bundle";
import { createServiceServer } from "@postrider/shared/connect/server";
import type { Sql } from "@postrider/shared/postgres";
import { verifyToken } from "@postrider/shared/secrets/signed-token";
import { compileCacheEnv } from "@postrider/shared/testing/compile-cache";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { ACCEPT_ANYONE, createTestIdentities } from "@postrider/shared/testing/identities";
import { listen } from "@postrider/shared/testing/listen";
import { eventually } from "@postrider/shared/testing/poll";
import { DEPLOYMENT, logger, toRecord } from "../fixture.ts";
import { answerPrepareMedia, isPrepareMedia } from "../media-service.ts";
import { LIBRARY } from "./cases.ts";
import type { Judged, Round } from "./rounds.ts";
import {
  countTasks,
  openMatrixDatabase,
  SETTINGS,
  startMatrixWorker,
  untilEnded,
  type Stage,
} from "./stage.ts";

const MAIN = await bundle(fileURLToPath(new URL("../../..", import.meta.url)));
const identities = createTestIdentities();
const MEDIA_KEY = "a key for the addresses of media that is long enough";
/**
 * Maximum number of publishing calls, and of other platform calls, that the simulator holds per
 * delivery process. A process opens 32 connections per host.
 */
const MAX_HELD = 24;
/**
 * Maximum number of rounds of the fault matrix whose processes are suspended together. More rounds
 * are split into batches of one kind of post.
 */
const MAX_STOPPED = 60;
/**
 * Deadline of the platform calls of a delivery process that is killed or suspended. It is long
 * enough that all calls are open together, and that a call after the suspension gets its answer in
 * time, even on a slow machine.
 */
const SIGNALLED_CALL_MS = 30_000;

/** Servers that act as the posts, accounts and media services for separate delivery processes. */
export class Peers implements AsyncDisposable {
  readonly #resources = new AsyncDisposableStack();
  readonly #stage: Pick<Stage, "config">;
  url = "";
  mediaUrl = "";

  private constructor(stage: Pick<Stage, "config">) {
    this.#stage = stage;
  }

  /** @param world The fake posts and accounts services, which answer the RPCs of the process. */
  static async open(
    stage: Pick<Stage, "config" | "world">,
    world: { readonly routes: (router: ConnectRouter) => void } = stage.world,
  ): Promise<Peers> {
    const peers = new Peers(stage);
    const { routes } = world;
    const server = await createServiceServer({ routes, access: ACCEPT_ANYONE, logger });
    peers.url = await server.listen({ host: "127.0.0.1", port: 0 });
    peers.#resources.defer(() => server.close());
    peers.mediaUrl = await peers.#listenMedia();
    return peers;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }

  async #listenMedia(): Promise<string> {
    const server = createServer(answerMedia);
    return this.#resources.use(await listen(server)).url;
  }

  env(
    database: TestDatabase,
    failpoints: string,
    visibleCallMs: number,
  ): Readonly<Record<string, string>> {
    const { config } = this.#stage;
    return {
      ...compileCacheEnv(),
      PORT: "0",
      METRICS_PORT: "0",
      ROLE: "publishing",
      BUS: "postgres",
      LOG_LEVEL: "silent",
      ...identities.env("delivery"),
      DATABASE_URL: database.url,
      DEPLOYMENT_ID: DEPLOYMENT,
      POSTS_URL: this.url,
      ACCOUNTS_URL: this.url,
      MEDIA_SERVICE_URL: this.mediaUrl,
      PUBLIC_URL: this.mediaUrl,
      MEDIA_KEY,
      HANDLE_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
      FAILPOINTS_DIR: failpoints,
      INSTAGRAM_BASE_URL: config.instagram.baseUrl,
      FACEBOOK_BASE_URL: config.facebook.baseUrl,
      X_BASE_URL: config.x.baseUrl,
      TIKTOK_BASE_URL: config.tiktok.baseUrl,
      TIKTOK_WHOLE_BYTES: "0",
      FACEBOOK_TWO_PHASE: "on",
      YOUTUBE_BASE_URL: config.youtube.baseUrl,
      TELEGRAM_BASE_URL: config.telegram.baseUrl,
      BLUESKY_BASE_URL: config.bluesky.baseUrl,
      BLUESKY_VIDEO_BASE_URL: config.bluesky.videoBaseUrl,
      VISIBLE_CALL_SECONDS: String(visibleCallMs / 1000),
      LEASE_SECONDS: String(SETTINGS.leaseMs / 1000),
      RECONCILE_TIME_SCALE: String(SETTINGS.reconcileTimeScale),
      PLATFORM_HOLD_AFTER: String(SETTINGS.holdAfterUnknowns),
      PUBLISH_RETRY_SECONDS: SETTINGS.retryMs.map((ms) => ms / 1000).join(),
    };
  }
}

/**
 * Serves the bytes of a media file by its id (to the delivery service) or by its signed address (to
 * platforms).
 */
function answerMedia(request: IncomingMessage, response: ServerResponse): void {
  if (isPrepareMedia(request)) {
    void answerPrepareMedia(request, response, (_, id) => LIBRARY.find((one) => one.id === id));
    return;
  }
  const { url = "", headers } = request;
  const [, folder, token = "", id = ""] = (url.split("?")[0] ?? "").split("/");
  const claims =
    folder === "media" ? verifyToken(MEDIA_KEY, "media", token, new Date()) : { media: id };
  const media = LIBRARY.find((one) => one.id === claims?.media);
  if (media === undefined) {
    response.writeHead(404).end();
    return;
  }
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? [];
  response.writeHead(from === undefined ? 200 : 206, { "content-type": media.contentType });
  response.end(media.content.subarray(Number(from ?? 0), Number(to || media.bytes) + 1));
}

export class DeliveryProcess implements AsyncDisposable {
  readonly database: TestDatabase;
  readonly #failpoints = mkdtempSync(join(tmpdir(), "postrider-failpoints-"));
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;

  constructor(
    peers: Peers,
    database: TestDatabase,
    visibleCallMs: number,
    env: Readonly<Record<string, string>> = {},
  ) {
    this.database = database;
    this.#env = { ...peers.env(database, this.#failpoints, visibleCallMs), ...env };
  }

  start(): void {
    this.#child = spawn(process.execPath, [MAIN], { stdio: "ignore", env: this.#env });
  }

  arm(name: string, order: "stop" | "kill"): void {
    writeFileSync(join(this.#failpoints, name), order);
  }

  /**
   * Publishes the publish requests of rounds of the fault matrix to the message bus, as the posts
   * service does, before the delivery process starts, so that the tasks are claimed together.
   */
  async request(rounds: readonly Round[]): Promise<void> {
    // The database role of the delivery service may not append to the topic of the posts service,
    // so the test appends as the owner of the database.
    const { ownerSql } = this.database;
    await ownerSql.begin(async (tx) => {
      for (const { target } of rounds) {
        const { key, headers, value } = toRecord([target]);
        await tx`
          insert into bus.records (topic, key, headers, value)
          values ('posts.events.v1', ${key}, ${tx.json(headers)}, ${value})`;
      }
    });
  }

  get isDead(): boolean {
    return this.#child !== undefined && this.#child.signalCode !== null;
  }

  get isStopped(): boolean {
    const { pid } = this.#child ?? {};
    // The third field of `/proc/<pid>/stat`, after the process name in brackets, is T if a signal
    // has suspended the process.
    return pid !== undefined && /\) T /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  }

  goOn(): void {
    this.#child?.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await eventually(() => child.exitCode !== null || child.signalCode !== null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#failpoints, { recursive: true, force: true });
    await this.database[Symbol.asyncDispose]();
  }
}

/**
 * Splits rounds of the fault matrix into batches whose platform calls one process can have open at
 * the same time.
 */
export function toKillBatches(rounds: readonly Round[]): readonly (readonly Round[])[] {
  const batches: Round[][] = [];
  for (const round of rounds) {
    const isAlike = (other: Round) => other.row.step.isVisible === round.row.step.isVisible;
    const batch = batches.find((one) => one.filter(isAlike).length < MAX_HELD);
    if (batch === undefined) batches.push([round]);
    else batch.push(round);
  }
  return batches;
}

/**
 * Splits many rounds of the fault matrix by kind of post. Publishing calls for posts of one kind
 * begin at about the same time, so that one signal affects many of them.
 */
export function toStopBatches(rounds: readonly Round[]): readonly (readonly Round[])[] {
  if (rounds.length <= MAX_STOPPED) return [rounds];
  return [...Map.groupBy(rounds, ({ row }) => row.kind).values()];
}

async function untilHeld(stage: Stage, sql: Sql, rounds: readonly Round[]): Promise<void> {
  const accounts = new Set(rounds.map(({ target, account }) => `${target.platform} ${account}`));
  await eventually(async () => {
    const rules = await stage.control<
      { platform: string; account: string; hits: number; times: number }[]
    >("GET", "faults");
    const ours = rules.filter(({ platform, account }) => accounts.has(`${platform} ${account}`));
    return ours.length > 0 && ours.every(({ hits, times }) => hits === times);
  });
  await eventually(async () => (await countTasks(sql, ["queued"])) === 0);
}

export interface Signalled {
  readonly judged: readonly Judged[];
  /**
   * Number of publish tasks that were in their publishing call, or just before sending it, when the
   * signal was sent.
   */
  readonly caught: number;
}

/**
 * Counts the rounds of the fault matrix whose held platform call was open when the delivery process
 * was killed.
 */
async function countInHand(sql: Sql, rounds: readonly Round[]): Promise<number> {
  const rows = await sql<{ targetId: string; status: string }[]>`
    select target_id, status
    from publish_tasks
    where status = 'calling'
    or status = 'working' and error_code is null`;
  const statuses = new Map(rows.map(({ targetId, status }) => [targetId, status]));
  return rounds.filter(({ row, target }) => {
    const wanted = row.step.isVisible === true ? "calling" : "working";
    return statuses.get(target.targetId) === wanted;
  }).length;
}

/**
 * Kills a delivery process while the simulator holds a call of each of its tasks. Workers of the
 * test process then take over the tasks.
 */
export async function runKilled(
  stage: Stage,
  peers: Peers,
  rounds: readonly Round[],
): Promise<Signalled> {
  await using dying = new DeliveryProcess(peers, await openMatrixDatabase(), SIGNALLED_CALL_MS);
  const { sql } = dying.database;
  await dying.request(rounds);
  dying.start();
  await untilHeld(stage, sql, rounds);
  await dying.kill();
  const caught = await countInHand(sql, rounds);
  await using _one = startMatrixWorker(stage, dying.database);
  await using _two = startMatrixWorker(stage, dying.database);
  await untilEnded(sql, rounds);
  return { judged: await stage.judgeAll(sql, rounds), caught };
}

/**
 * Suspends a delivery process between recording publishing calls and sending them. Workers of the
 * test process take over the tasks. Then the delivery process continues.
 */
export async function runStopped(
  stage: Stage,
  peers: Peers,
  rounds: readonly Round[],
): Promise<Signalled> {
  await using stopping = new DeliveryProcess(peers, await openMatrixDatabase(), SIGNALLED_CALL_MS);
  const { sql } = stopping.database;
  stopping.arm("delivery.after-mark", "stop");
  await stopping.request(rounds);
  stopping.start();
  await eventually(() => stopping.isStopped);
  const caught = await countTasks(sql, ["calling"]);
  await using _one = startMatrixWorker(stage, stopping.database);
  await using _two = startMatrixWorker(stage, stopping.database);
  await eventually(async () => (await countTasks(sql, ["calling"])) === 0);
  stopping.goOn();
  await untilEnded(sql, rounds);
  return { judged: await stage.judgeAll(sql, rounds), caught };
}
