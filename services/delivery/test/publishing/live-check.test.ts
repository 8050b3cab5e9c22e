import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { DoctorService } from "@postrider/contracts/delivery/v1/doctor_service_pb";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { PLATFORM_IDS, type PlatformId } from "@postrider/platforms/platform-id";
import { createConnectors } from "@postrider/platforms/platforms";
import { createSession } from "@postrider/platforms/test/bluesky/create-session";
import { jpegMedia, startMediaServer } from "@postrider/platforms/test/media-server";
import { mp4Media } from "@postrider/platforms/test/test-media";
import { startTestPlatform, type TestPlatform } from "@postrider/platforms/test/test-platform";
import { newId } from "@postrider/shared/ids";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { createTestPeer } from "@postrider/shared/testing/router";
import { describe, expect, test, afterAll, beforeAll } from "vitest";
import { markRestored } from "#src/publishing/db/deployment.ts";
import { createPublishingGuard } from "#src/publishing/operations/publishing-guard.ts";
import { createDoctorService } from "#src/publishing/rpc/doctor-service.ts";
import {
  DEPLOYMENT,
  readTask,
  request,
  untilStatus,
  logger,
  openDatabase,
  startWorker,
  toContentMedia,
  World,
  type TestTarget,
  type TestWorker,
  type WorkerOptions,
} from "./fixture.ts";

const platforms = new Map<PlatformId, TestPlatform>();
let files: Awaited<ReturnType<typeof startMediaServer>>;
/** The database of the test file that uses this fixture. */
let database: TestDatabase;

/** Starts the simulated platforms, a media server and a database, and stops them at the end. */
async function useLiveChecks(): Promise<void> {
  files = await startMediaServer();
  for (const platform of PLATFORM_IDS) platforms.set(platform, await startTestPlatform(platform));
  beforeAll(async () => {
    database = await openDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());
}

function platformOf(platform: PlatformId): TestPlatform {
  const found = platforms.get(platform);
  if (found === undefined) throw new Error("no such platform");
  return found;
}

function settingsOf(platform: PlatformId) {
  const at = { baseUrl: platformOf(platform).url };
  const graph = { ...at, uploadBaseUrl: `${at.baseUrl}/rupload`, version: "v25.0" };
  return {
    instagram: { ...graph, loginBaseUrl: `${at.baseUrl}/login` },
    x: { ...at, mayResend: true },
    facebook: { ...graph, isTwoPhase: false },
    tiktok: at,
    youtube: at,
    telegram: at,
    bluesky: { ...at, videoBaseUrl: at.baseUrl },
  };
}

function mediaOf(platform: PlatformId) {
  if (platform === "instagram") return [files.serve(jpegMedia(1))];
  return platform === "youtube" || platform === "tiktok" ? [mp4Media(1000)] : [];
}

/** An account on a simulated platform, and the RPCs with which an operator checks it. */
async function open(platform: PlatformId) {
  const world = new World();
  const simulated = await platformOf(platform).createAccount();
  const { externalId, username, credentials } = simulated;
  const token =
    platform === "bluesky"
      ? await createSession(platformOf(platform).url, credentials)
      : (credentials.accessToken ?? credentials.botToken ?? "");
  const media = mediaOf(platform);
  const target = world.addTarget({ platform, media });
  Object.assign(world.account(target), { externalId, username, token });
  const { workspaceId, accountId } = target;
  const account = { id: accountId, workspaceId, platform, status: "active" };
  const permissions = { granted: ["publishing"] };
  const owners = createTestPeer((router) => {
    router.service(AccountService, {
      batchGetAccounts: ({ refs }) => ({
        accounts: refs.some((each) => each.accountId === accountId)
          ? [{ ...account, permissions }]
          : [],
      }),
    });
    router.service(MediaService, {
      batchGetMedia: () => ({
        media: media.map((one) => ({ ...toContentMedia(workspaceId, one), status: "ready" })),
      }),
    });
  });
  const { sql } = database;
  const settings = settingsOf(platform);
  const service = createDoctorService({
    sql,
    accounts: {
      accounts: owners.client(AccountService),
      credentials: createTestPeer(world.routes).client(CredentialService),
    },
    media: owners.client(MediaService),
    checks: createConnectors("diagnosis", settings),
    guard: createPublishingGuard({ sql, logger, deploymentId: DEPLOYMENT }),
  });
  const doctor = createTestPeer((router) => router.service(DoctorService, service));
  const connector = createConnectors("publishing", settings)[platform];
  const request = { workspaceId, accountId, allowPublic: true, mediaId: newId() };
  return { world, target, connector, request, client: doctor.client(DoctorService) };
}

type Opened = Awaited<ReturnType<typeof open>>;

function startProcess(
  { world, target, connector }: Pick<Opened, "world" | "target" | "connector">,
  { settings, ...options }: WorkerOptions = {},
): TestWorker {
  return startWorker(database, world, {
    connectors: { [target.platform]: connector },
    settings: { leaseMs: 20_000, reconcileTimeScale: 0.002, ...settings },
    ...options,
  });
}

/** Waits until a live check has ended. */
async function whenEnded({ client }: Pick<Opened, "client">, id: string) {
  return await eventually(async () => {
    const state = await client.getLiveCheck({ id });
    return state.endedAt === undefined ? false : state;
  });
}

/** Makes a live check, and returns its state at its end. */
async function check(opened: Opened, options: WorkerOptions = {}) {
  await using _process = startProcess(opened, options);
  const { id } = await opened.client.startLiveCheck(opened.request);
  return await whenEnded(opened, id);
}

/** The target of a live check, for the functions that read tasks. */
function targetOf({ target }: Opened, id: string): TestTarget {
  return { ...target, targetId: id, postId: id };
}

function namesOf({
  steps,
}: {
  readonly steps: readonly { readonly name: string; readonly status: string }[];
}): readonly string[] {
  return steps.map(({ name, status }) => `${name}: ${status}`);
}

await useLiveChecks();

const STEPS = [
  "prepare: ok",
  "publish: ok",
  "find it as after a lost answer: ok",
  "find it by its content: ok",
  "open its permalink: ok",
  "delete it: ok",
  "find it no longer: ok",
  "delete it again: ok",
];

/** The steps of a live check that do not end with `ok`, by platform. */
const EXPECTED = {
  instagram: [],
  x: [],
  facebook: [
    "find it by its content: skipped",
    "open its permalink: skipped",
    "find it no longer: skipped",
  ],
  youtube: ["open its permalink: skipped"],
  bluesky: [],
  telegram: [
    "find it as after a lost answer: warning",
    "find it by its content: skipped",
    "find it no longer: skipped",
  ],
  tiktok: ["find it by its content: warning", "open its permalink: skipped", "delete it: warning"],
} satisfies Record<PlatformId, readonly string[]>;

describe.each(PLATFORM_IDS)("the live check of an account of %s", (platform) => {
  test(`an operator's live check of ${platform} publishes at most one post and reports what it could not delete`, async () => {
    const state = await check(await open(platform));

    expect(namesOf(state).filter((step) => !step.endsWith(": ok"))).toEqual(EXPECTED[platform]);
    expect(state.steps[1]?.name).toBe("publish");
    // TikTok never returns the id of a private video, so the last step reports the text to search
    // for.
    const isNamed = state.steps.at(-1)?.found.includes(state.text);
    expect(isNamed).toBe(platform === "tiktok");
    expect(state.mayBeLeft).toBe(platform === "tiktok");
    expect(state.externalId).toBeUndefined();
    expect(await platformOf(platform).visible()).toEqual([]);
    const requests = await platformOf(platform).listRequests();
    const sent = requests.filter(({ operation }) => operation === "publish");
    expect(sent.length).toBe(platform === "facebook" ? 0 : 1);
  });
});

test("no event reports the target or the deletion of a live check", async () => {
  const state = await check(await open("x"));
  expect(namesOf(state)).toEqual(STEPS);
  const events = await database.sql`select type from outbox`;
  expect(events.map((row) => row.type as string)).toEqual([]);
});

test("a live check reports the post that it cannot delete", async () => {
  await platformOf("bluesky").addFault("delete", "status", { status: 403, times: 5 });
  const state = await check(await open("bluesky"));

  const [post] = await platformOf("bluesky").visible();
  expect(state.steps.at(-1)).toMatchObject({ name: "delete it", status: "failed" });
  expect(state.externalId).toBe(post?.id);
  expect(state.permalink).toContain("https://bsky.app/");
});

test("a live check reports a platform that changes the text of posts", async () => {
  const opened = await open("x");
  const { connector } = opened;
  const publish: typeof connector.publish = (publication, ...rest) =>
    connector.publish({ ...publication, text: publication.text.replace("ü", "u") }, ...rest);
  const settings = { leaseMs: 1_000 };
  const state = await check({ ...opened, connector: { ...connector, publish } }, { settings });

  expect(namesOf(state)).toContain("find it by its content: failed");
  expect(namesOf(state)).toContain("delete it: ok");
});

test("a live check that cannot read the account's posts reports this, and still deletes its post", async () => {
  await platformOf("x").addFault("GET /*", "status", { status: 503, times: 100 });
  const state = await check(await open("x"), { settings: { leaseMs: 1_000 } });

  expect(namesOf(state)).toContain("find it as after a lost answer: failed");
  expect(namesOf(state)).toContain("delete it: ok");
  expect(namesOf(state)).toContain("find it no longer: warning");
});

test("a live check finds and deletes its post although the answer of the publishing call was lost", async () => {
  await platformOf("x").addFault("publish", "drop_after_commit");
  const state = await check(await open("x"));
  expect(namesOf(state)).toContain("delete it: ok");
  expect(state.mayBeLeft).toBe(false);
  expect(await platformOf("x").visible()).toEqual([]);
});

test("a live check refuses a post that readers would see unless the operator allows it", async () => {
  const { client, request: given } = await open("x");
  await expect(client.startLiveCheck({ ...given, allowPublic: false })).rejects.toMatchObject({
    reason: "invalid_request",
    violations: [{ code: "public_post" }],
  });
});

test("a live check that needs a file refuses to start without one", async () => {
  const { client, request: given } = await open("youtube");
  await expect(client.startLiveCheck({ ...given, mediaId: "" })).rejects.toMatchObject({
    violations: [{ code: "video_required" }],
  });
});

test.each(["platform", "account", "workspace"] as const)(
  "a live check is refused while publishing is paused for its %s",
  async (kind) => {
    const { client, request: given } = await open("x");
    const key = { platform: "x", account: given.accountId, workspace: given.workspaceId };
    await database.sql`insert into pauses (kind, key) values (${kind}, ${key[kind]})`;
    try {
      await expect(client.startLiveCheck(given)).rejects.toMatchObject({
        reason: "publishing_paused",
      });
    } finally {
      await database.sql`delete from pauses`;
    }
  },
);

test("a live check is refused while the data belongs to another deployment", async () => {
  const { client, request: given } = await open("x");
  await database.sql`update deployment set deployment_id = 'other'`;
  try {
    await expect(client.startLiveCheck(given)).rejects.toMatchObject({ reason: "publishing_held" });
  } finally {
    await database.sql`update deployment set deployment_id = ${DEPLOYMENT}`;
  }
});

test("a live check and a target of its account are published one after the other", async () => {
  const opened = await open("x");
  const { world, target, client } = opened;
  const gate = Promise.withResolvers<void>();
  world.reactions = [
    async (_call, _guard, make) => {
      await gate.promise;
      return make();
    },
  ];
  const connector = world.connector();
  await using _process = startProcess(
    { ...opened, connector },
    { settings: { visibleCallMs: 60_000 } },
  );
  const { id } = await client.startLiveCheck(opened.request);
  await untilStatus(database.sql, targetOf(opened, id), "calling");
  const other = world.addTarget();
  await request(database.sql, target, other);
  await untilStatus(database.sql, other, "published");
  expect(await readTask(database.sql, target)).toMatchObject({ status: "queued", fence: 0 });
  gate.resolve();
  await untilStatus(database.sql, target, "published");
});

const HANGING = { leaseMs: 400, visibleCallMs: 500 };

test.each(["bluesky", "telegram"] as const)(
  "another process deletes the post of a live check on %s whose process ended, and reports the interrupted step",
  async (platform) => {
    const opened = await open(platform);
    const opening = Promise.withResolvers<void>();
    const dying = startProcess(opened, {
      settings: HANGING,
      openPermalink: async () => {
        opening.resolve();
        return await new Promise(() => undefined);
      },
    });
    const { id } = await opened.client.startLiveCheck(opened.request);
    await opening.promise;
    expect(await platformOf(platform).visible()).toHaveLength(1);
    await dying.crash();
    await using _next = startProcess(opened, { settings: HANGING });
    const state = await whenEnded(opened, id);

    expect(namesOf(state).slice(2, 4)).toEqual(["interruption: failed", "delete it: ok"]);
    expect(await platformOf(platform).visible()).toEqual([]);
  },
);

test.each(["bluesky", "telegram"] as const)(
  "the post of a live check on %s whose process ended during the publishing call is found and deleted, or its text is reported",
  async (platform) => {
    const opened = await open(platform);
    await platformOf(platform).addFault("publish", "delay", { delayMs: 60_000 });
    const dying = startProcess(opened, { settings: HANGING });
    const { id } = await opened.client.startLiveCheck(opened.request);
    await eventually(async () => (await platformOf(platform).visible()).length === 1);
    await dying.crash();
    await using _next = startProcess(opened, { settings: HANGING });
    const state = await whenEnded(opened, id);

    const isFound = platform === "bluesky";
    expect(await platformOf(platform).visible()).toHaveLength(isFound ? 0 : 1);
    expect(state.mayBeLeft).toBe(!isFound);
    const end = state.steps.find(({ name }) => name === "delete it");
    expect(end?.status).toBe(isFound ? "ok" : "warning");
    expect(end?.found.includes(`look for “${state.text}”`)).toBe(!isFound);
  },
);

test("a live check of an account that was disconnected meanwhile reports the post that stays on the platform", async () => {
  const opened = await open("bluesky");
  const { world, target, client } = opened;
  const { connector } = opened;
  const publish: typeof connector.publish = async (...given) => {
    const outcome = await connector.publish(...given);
    world.account(target).status = "disconnected";
    return outcome;
  };
  await using _process = startProcess({ ...opened, connector: { ...connector, publish } });
  const { id } = await client.startLiveCheck(opened.request);
  const state = await whenEnded(opened, id);

  expect(state.externalId).toBeDefined();
  expect(state.steps.at(-1)).toMatchObject({ name: "delete it", status: "failed" });
  expect(state.steps.at(-1)?.found).toContain("account_disconnected");
});

test("a live check whose call a restore from a backup has forgotten is searched for, and its post is deleted", async () => {
  const opened = await open("bluesky");
  const { id } = await opened.client.startLiveCheck(opened.request);
  await platformOf("bluesky").addFault("delete", "status", { status: 503, times: 1000 });
  const before = startProcess(opened);
  await untilStatus(database.sql, targetOf(opened, id), "published");
  await before[Symbol.asyncDispose]();
  await platformOf("bluesky").control("DELETE", "faults");
  expect(await platformOf("bluesky").visible()).toHaveLength(1);
  // The backup was made before a process claimed the check.
  const { migrationSql: sql } = database;
  await sql`delete from deletion_tasks where target_id = ${id}`;
  await sql`delete from publish_attempts where target_id = ${id}`;
  await sql`
    update publish_tasks
    set status = 'queued', wake_at = now(), call_number = 0, called_at = null, call_until = null, attempt_number = 0,
      content_hash = null, external_account_id = null, external_id = null, permalink = null, published_at = null
    where target_id = ${id}`;
  await sql`update live_checks set read_before = null where id = ${id}`;
  await markRestored(database.sql);
  await using _next = startProcess(opened, { settings: { visibleCallMs: 500 } });
  const state = await whenEnded(opened, id);

  expect(await platformOf("bluesky").visible()).toEqual([]);
  expect(state.mayBeLeft).toBe(false);
  expect((await readTask(database.sql, targetOf(opened, id))).callNumber).toBeGreaterThan(0);
});

test("the record of a live check is deleted when another one starts 30 days later", async () => {
  const ages = [31, 29];
  for (const days of ages)
    await database.sql`
      insert into live_checks (id, content, started_at)
      values (gen_random_uuid(), ${database.sql.json({ text: String(days) })}, now() - ${days} * interval '1 day')`;
  const { client, request: given } = await open("x");
  await client.startLiveCheck(given);
  const left = await database.sql<{ text: string }[]>`
    select content ->> 'text' as text
    from live_checks
    where content ->> 'text' in ('29', '31')`;
  expect(left.map(({ text }) => text)).toEqual(["29"]);
});

test("the check of an account reports the granted permissions and whether the platform accepts the token, or that the account is not found", async () => {
  const { client, request: given } = await open("x");
  const { findings } = await client.diagnoseAccount(given);
  expect(findings).toMatchObject([
    { name: "connection", status: "ok" },
    { name: "permissions", status: "ok", found: "the account may be used for publishing" },
    { status: "ok", found: expect.stringMatching(/^X accepts the token/) as string },
  ]);
  const other = { ...given, accountId: newId() };
  await expect(client.diagnoseAccount(other)).rejects.toMatchObject({ reason: "not_found" });
});
