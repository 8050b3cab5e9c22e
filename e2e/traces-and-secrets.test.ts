import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { sampleJpeg, sampleMp4 } from "@postrider/local/demo/sample-media";
import { listen, type Listening } from "@postrider/shared/testing/listen";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  findLeaks,
  formsOf,
  readLogFiles,
  readMetrics,
  readTables,
  type Secrets,
} from "./support/observers/canaries.ts";
import { startCollector, type Collector } from "./support/observers/collector.ts";
import { testTraces, testWithoutCollector } from "./support/observers/traces.ts";
import { presign, upload, type File } from "./support/requests/media.ts";
import { create, detailsOf, whenTargets } from "./support/requests/posts.ts";
import { openTenant, type Tenant } from "./support/requests/tenant.ts";
import { startSystem, type System } from "./support/system/system.ts";

const PICTURE: File = { fileName: "a.jpg", contentType: "image/jpeg", bytes: sampleJpeg() };
const VIDEO: File = {
  fileName: "video.mp4",
  contentType: "video/mp4",
  bytes: sampleMp4({ seconds: 3 }),
};
/** A video that is large enough for all platforms. */
const LARGE_VIDEO: File = { ...VIDEO, bytes: sampleMp4({ seconds: 3, width: 540, height: 960 }) };
const WITH_PAGE = ["x", "facebook", "instagram", "tiktok", "youtube"];
const PLATFORMS = [...WITH_PAGE, "telegram", "bluesky"];
const SETTLE_MS = 90_000;
const TEXT = "canary text on an expired token";
const LAST_REQUEST = "the-last-request";
const LAST_TRACE = "1a57".repeat(8);

const secrets = new Map<string, string>();
const errorBodies = new Map<string, string>();

/**
 * Records a secret for which the test searches at its end; default: a new random one. `what` says
 * what the secret is.
 */
function plant(what: string, secret = `canary.${randomBytes(24).toString("base64url")}`): string {
  secrets.set(what, secret);
  return secret;
}

const SEALING_KEYS = [randomBytes(32), randomBytes(32)];
const HANDLE_KEY = randomBytes(32);
const ENV = {
  LOG_LEVEL: "trace",
  CREDENTIAL_KEYS: SEALING_KEYS.map((key, index) => `k${index}:${key.toString("base64")}`).join(),
  HANDLE_KEYS: `h0:${HANDLE_KEY.toString("base64")}`,
  MEDIA_KEY: plant("media key"),
  INSTAGRAM_CLIENT_SECRET: plant("instagram's client secret"),
  X_CLIENT_SECRET: plant("x's client secret"),
  FACEBOOK_CLIENT_SECRET: plant("facebook's client secret"),
  YOUTUBE_CLIENT_SECRET: plant("youtube's client secret"),
  TIKTOK_CLIENT_SECRET: plant("tiktok's client secret"),
};
for (const [index, key] of SEALING_KEYS.entries()) {
  plant(`credential key ${index}`, key.toString("base64"));
  plant(`credential key ${index}, its bytes`, key.toString("hex"));
}
plant("handle key", HANDLE_KEY.toString("base64"));

let system: System;
let tenant: Tenant;
/** Trace collector that receives the spans of all services. */
let collector: Collector;
/** A server outside of the system, which serves a video only to requests that carry its secrets. */
let fileServer: Listening;

beforeAll(async () => {
  const signature = plant("signature in an imported address");
  const server = createServer((request, response) => {
    const { searchParams, pathname } = new URL(request.url ?? "/", "http://outside.test");
    if (searchParams.get("signature") !== signature) response.writeHead(403).end();
    else if (pathname === "/moved.mp4") {
      const to = plant("password in a redirect");
      response.writeHead(302, { location: `http://u:${to}@${fileServer.address}/` }).end();
    } else if (pathname === "/video.mp4") response.writeHead(200).end(VIDEO.bytes);
    else response.writeHead(404).end();
  });
  fileServer = await listen(server);
  collector = await startCollector();
  const env = {
    ...ENV,
    OUTBOUND_ALLOW: fileServer.address,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=${plant("header of the span exporter")}`,
  };
  // The Postgres bus stores its records in tables, which the test reads anyway.
  // `support/faults/kafka-records.ts` reads those that Kafka stores.
  system = await startSystem("postgres", { env });
  tenant = await openTenant(system);
  plant("api key of the demo", system.local().apiKey);
});
afterAll(async () => {
  await fileServer[Symbol.asyncDispose]();
  await system[Symbol.asyncDispose]();
});

/** Sends a request to the gateway and records the body of an error response. Returns the status. */
async function send(path: string, init: RequestInit = {}): Promise<number> {
  const answer = await fetch(`${system.local().baseUrl}${path}`, { redirect: "manual", ...init });
  const body = await answer.text();
  if (answer.status >= 400) {
    const headers = JSON.stringify([...answer.headers]);
    errorBodies.set(`refusal ${errorBodies.size}`, `${headers}\n${body}`);
  }
  return answer.status;
}

async function newKey(name: string): Promise<string> {
  const words = ["key", "create", "--name", name, "--workspace", tenant.id, "--scopes", "all"];
  const { key } = await system.operate<{ key: string }>(...words);
  return plant(`api key ${name}`, key);
}

const JSON_TYPE = { "content-type": "application/json" };

async function useKeys(): Promise<void> {
  const key = await newKey("used");
  const authorization = `Bearer ${key}`;
  const headers = { authorization, ...JSON_TYPE };
  expect(await send("/api/v1/posts", { headers })).toBe(200);
  const unknown = plant(
    "api key that does not exist",
    `pr_live_${randomBytes(24).toString("hex")}`,
  );
  for (const scheme of ["Bearer ", "Basic ", ""])
    expect(await send("/api/v1/posts", { headers: { authorization: scheme + unknown } })).toBe(401);
  // Some clients send their API key in the wrong place.
  const lost = await newKey("lost");
  for (const path of [`/posts/${lost}`, `/${lost}`, `/posts?cursor=${lost}`, `/posts?key=${lost}`])
    expect(await send(`/api/v1${path}`, { headers })).toBeGreaterThanOrEqual(400);
  const bodies = [
    `{"content":"${lost}"`,
    JSON.stringify({ apiKey: lost }),
    JSON.stringify({ content: "a", accountIds: [lost] }),
    JSON.stringify({
      content: "a",
      accountIds: [crypto.randomUUID()],
      options: { x: { token: lost } },
    }),
  ];
  for (const body of bodies)
    expect(await send("/api/v1/posts", { method: "POST", headers, body })).toBeGreaterThan(399);
  expect(await send("/api/v1/posts", { headers: { ...headers, "x-workspace-id": lost } })).toBe(
    400,
  );
  expect(await send("/api/v1/posts", { headers: { ...headers, cookie: `session=${lost}` } })).toBe(
    200,
  );
}

/** Logs in to the dashboard, and sends its secrets to wrong places. */
async function useDashboard(): Promise<void> {
  const at = ["--workspace", tenant.id];
  const { url } = await system.operate<{ url: string }>("dashboard", "link", ...at);
  const token = plant("login link", new URL(url).hash.slice(1));
  const headers = { ...JSON_TYPE, origin: system.local().baseUrl };
  const logIn = async (body: object) =>
    await fetch(`${system.local().baseUrl}/app/api/session`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
  const opened = await logIn({ token });
  expect(opened.status).toBe(201);
  const pair = (opened.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const cookie = plant("session token", pair.split("=")[1] ?? "");
  expect(await send("/app/api/session", { headers: { cookie: pair } })).toBe(200);
  expect(await send("/api/v1/posts", { headers: { cookie: pair } })).toBe(200);
  const key = await newKey("pasted");
  expect((await logIn({ apiKey: key })).status).toBe(201);
  const wrong = [
    { token },
    { token: plant("login link that was never issued") },
    { apiKey: plant("pasted text that is not a key") },
    { token: [token] },
    { password: token },
  ];
  for (const body of wrong)
    expect(
      await send("/app/api/session", { method: "POST", headers, body: JSON.stringify(body) }),
    ).toBeGreaterThanOrEqual(400);
  for (const path of [
    `/app/login?token=${token}`,
    `/app/api/session?token=${token}`,
    `/app/${cookie}`,
  ])
    await send(path, { headers: { cookie: pair } });
  expect(await send("/api/v1/posts", { headers: { authorization: `Bearer ${cookie}` } })).toBe(401);
  expect(await send("/api/v1/posts", { method: "POST", headers: { cookie: pair } })).toBe(403);
}

/** Follows a connect link as a browser does; `mangle` may change the URL of the callback. */
async function followLink(platform: string, mangle = (back: URL) => back): Promise<void> {
  const label = `${platform}${secrets.size}`;
  const { promise: link, resolve } = Promise.withResolvers<string>();
  const words = ["account", "connect", platform, "--workspace", tenant.id];
  const command = system.operateNoting(
    (note) => {
      const { url } = note as { url?: string };
      if (url !== undefined) resolve(url);
    },
    ...words,
  );
  // The command fails when its request is refused. The test ignores that: it reads only what the
  // command leaves in logs and tables.
  const ended = command.catch(() => undefined);
  const { pathname } = new URL(await link);
  plant(`connect link of ${label}`, pathname.split("/").at(-1));
  const shown = await fetch(await link);
  const cookie = (shown.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  plant(`browser cookie of ${label}`, cookie.split("=").at(-1));
  const opened = await fetch(await link, {
    method: "POST",
    headers: { cookie },
    redirect: "manual",
  });
  // After this request, the secret that identifies the browser is in the cookie of the OAuth state.
  const stateCookie = opened.headers.getSetCookie().map((one) => one.split(";")[0]);
  const approved = await fetch(opened.headers.get("location") ?? "", { redirect: "manual" });
  const back = new URL(approved.headers.get("location") ?? "");
  plant(`state of ${label}`, back.searchParams.get("state") ?? "");
  const { pathname: path, search } = mangle(back);
  await send(path + search, { headers: { cookie: stateCookie.join("; ") } });
  await ended;
}

async function approveAccounts(): Promise<void> {
  await system.simulator.setAuthorize("approve");
  for (const platform of WITH_PAGE) {
    await followLink(platform);
    await followLink(platform, (back) => {
      back.searchParams.set("code", plant(`code of ${platform} that was never issued`));
      return back;
    });
  }
  const unknown = new URLSearchParams({
    state: plant("state that was never issued"),
    code: plant("code without a connect link"),
  });
  expect(await send(`/connect/callback?${unknown.toString()}`)).toBe(404);
  expect(
    await send(
      `/connect/${plant("connect link that was never issued", randomBytes(32).toString("base64url"))}`,
    ),
  ).toBe(404);
}

interface AppPassword {
  readonly identifier: string;
  readonly appPassword: string;
  readonly botToken: string;
  readonly chatId: string;
}

async function authorizeWithSecrets(): Promise<void> {
  const issue = (platform: string) => system.simulator.issueAccount<AppPassword>(platform);
  const { credentials: bluesky } = await issue("bluesky");
  const { credentials: telegram } = await issue("telegram");
  const accounts = [
    { platform: "bluesky", whom: [`--handle=${bluesky.identifier}`], secret: bluesky.appPassword },
    { platform: "telegram", whom: [`--chat=${telegram.chatId}`], secret: telegram.botToken },
  ];
  for (const { platform, whom, secret } of accounts) {
    const words = ["account", "connect", platform, "--workspace", tenant.id, ...whom];
    await system.operateWith(`${plant(`secret of ${platform}`, secret)}\n`, ...words);
    const wrong = plant(`wrong secret of ${platform}`, `${secret.slice(0, -12)}canarycanary`);
    const refusal: unknown = await system.operateWith(`${wrong}\n`, ...words).then(
      () => undefined,
      (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
    );
    expect(refusal).toEqual(expect.any(String));
    errorBodies.set(`the tool's refusal for ${platform}`, String(refusal));
  }
}

async function useUploads(): Promise<void> {
  const grant = await presign(tenant.api, PICTURE);
  plant("upload token", grant.uploadToken);
  const path = `/uploads/${grant.uploadPath}`;
  const query = `?token=${grant.uploadToken}`;
  const put = (body: Uint8Array<ArrayBuffer>) => ({ method: "PUT", body });
  expect(await send(path + query, put(VIDEO.bytes))).toBe(413);
  const forged = plant("upload token that was never issued");
  expect(await send(`${path}?token=${forged}`, put(PICTURE.bytes))).toBe(404);
  const headers = { authorization: `Bearer ${grant.uploadToken}` };
  expect(await send(path, { ...put(PICTURE.bytes), headers })).toBe(204);
  expect(await send(path + query, put(PICTURE.bytes))).toBe(409);
  const done = await tenant.api.call<{ url: string }>("POST", `/media/${grant.id}/complete`);
  const { pathname } = new URL(done.body.url);
  plant("media token", pathname.split("/").at(-1));
  expect(await send(pathname)).toBe(200);
  expect(await send(pathname, { headers: { range: "bytes=999999999-" } })).toBe(416);
  expect(await send(`/media/${plant("media token that was never issued")}`)).toBe(404);
}

async function importVideos(): Promise<void> {
  const headers = { authorization: `Bearer ${await newKey("importer")}`, ...JSON_TYPE };
  const signed = `signature=${secrets.get("signature in an imported address")}`;
  const host = fileServer.address;
  const fromUrl = (url: string) =>
    send("/api/v1/media/from-url", { method: "POST", headers, body: JSON.stringify({ url }) });
  expect(await fromUrl(`http://${host}/video.mp4?${signed}`)).toBe(201);
  expect(await fromUrl(`http://${host}/missing.mp4?${signed}`)).toBe(422);
  expect(await fromUrl(`http://${host}/moved.mp4?${signed}`)).toBe(422);
  expect(await fromUrl(`http://10.0.0.1/${plant("path of a private address")}`)).toBe(422);
  const userinfo = `${plant("user of an address")}:${plant("password of an address")}`;
  expect(await fromUrl(`http://${userinfo}@${host}/video.mp4?${signed}`)).toBeGreaterThan(399);
}

const OPTIONS = { youtube: { title: "A video" }, tiktok: { privacy: "public" } };
/**
 * Ways in which a platform fails after it received an access token. The last one makes an account
 * require a reconnect.
 */
const FAILURES = [
  { mode: "refuse" },
  { mode: "status", status: 500 },
  { mode: "garbage_body" },
  { mode: "drop_before" },
  { mode: "drop_after_commit" },
  { mode: "status", status: 401 },
] as const;

/**
 * Publishes one post on all platforms, and then sends a different post with the same idempotency
 * key.
 */
async function publishEverywhere(accountIds: readonly string[]): Promise<void> {
  const { id: mediaId } = await upload(tenant.api, LARGE_VIDEO);
  const headers = { "idempotency-key": plant("idempotency key") };
  const body = { content: "To all", accountIds, mediaIds: [mediaId], options: OPTIONS };
  const accepted = await tenant.api.call<{ id: string }>("POST", "/posts", { body, headers });
  expect(detailsOf(accepted)).toEqual([]);
  await whenTargets(tenant.api, accepted.body.id, "published", SETTLE_MS);
  const other = { body: { ...body, content: "Another" }, headers };
  const refused = await tenant.api.call("POST", "/posts", other);
  expect(refused.status).toBe(422);
  errorBodies.set("a key for another post", JSON.stringify(refused.body));
  const deleted = await tenant.api.call("DELETE", `/posts/${accepted.body.id}`);
  expect(deleted.status).toBeLessThan(300);
}

async function countOpenTargets(): Promise<number | undefined> {
  const [row] = await system.sql<{ count: number }[]>`
    select count(*)::int as count
    from posts.targets
    where status in ('pending', 'publishing')`;
  return row?.count;
}

/** Connects new accounts on all platforms. */
async function connectAll(): Promise<{ youtube: string; pictured: string[] }> {
  const youtube = await tenant.connect("youtube");
  const pictured = await Promise.all(
    PLATFORMS.filter((platform) => platform !== "youtube").map((each) => tenant.connect(each)),
  );
  return { youtube, pictured };
}

async function publish(): Promise<void> {
  const first = await connectAll();
  await publishEverywhere([first.youtube, ...first.pictured]);
  const [video, picture] = [await upload(tenant.api, VIDEO), await upload(tenant.api, PICTURE)];
  for (const [index, failure] of FAILURES.entries()) {
    // The accounts are new, because the last failure leaves an account on which nothing can be
    // published.
    const { youtube, pictured } = await connectAll();
    for (const platform of PLATFORMS)
      for (const operation of ["create", "publish", "upload", "status"])
        await system.simulator.addFault({ platform, operation, ...failure, times: 1 });

    const content = `Failure ${index}`;
    const { tiktok, youtube: titled } = OPTIONS;
    await create(tenant.api, {
      content,
      accountIds: pictured,
      mediaIds: [picture.id],
      options: { tiktok },
    });
    await create(tenant.api, {
      content,
      accountIds: [youtube],
      mediaIds: [video.id],
      options: { youtube: titled },
    });
  }
  await eventually(async () => expect(await countOpenTargets()).toBe(0), {
    timeoutMs: SETTLE_MS,
  });
  await system.simulator.clearFaults();
}

/** Makes token refreshes be refused, remain unanswered and succeed, and then revokes the tokens. */
async function renewAndDisconnect(): Promise<void> {
  for (const failure of FAILURES) {
    const ids = await Promise.all(WITH_PAGE.map((platform) => tenant.connect(platform)));
    // The posts are accepted before the tokens expire, and published afterwards.
    await system.operate("pause", "--workspace", tenant.id);
    const texts = ids.slice(0, 2).map((id) => tenant.api.createPost(TEXT, [id]));
    const accepted = await Promise.all(texts);
    await system.sql`
      update accounts.credentials
      set issued_at = issued_at - interval '1 year', expires_at = now() - interval '1 minute'
      where account_id in ${system.sql(ids)}`;
    for (const platform of WITH_PAGE)
      for (const operation of ["refresh", "revoke"])
        await system.simulator.addFault({ platform, operation, ...failure, times: 1 });

    await system.operate("resume", "--workspace", tenant.id);
    for (const { id } of accepted)
      await eventually(async () => (await tenant.api.getPost(id)).status !== "publishing", {
        timeoutMs: SETTLE_MS,
      });
    for (const id of ids)
      expect((await tenant.api.call("DELETE", `/accounts/${id}`)).status).toBe(204);
    await system.simulator.clearFaults();
  }
}

/**
 * Publishes a video on YouTube and TikTok while their calls for publishing and for the status fail.
 * The delivery service then keeps the upload URLs and continues to ask for the status.
 */
async function leaveUploadsOpen(): Promise<void> {
  const platforms = ["youtube", "tiktok"];
  for (const platform of platforms)
    for (const operation of ["publish", "status"])
      await system.simulator.addFault({
        platform,
        operation,
        mode: "status",
        status: 500,
        times: 10_000,
      });

  const video = await upload(tenant.api, LARGE_VIDEO);
  const accountIds = await Promise.all(platforms.map((platform) => tenant.connect(platform)));
  await create(tenant.api, { content: "Open", accountIds, mediaIds: [video.id], options: OPTIONS });
  await eventually(
    async () => {
      const rows = await system.sql<{ platform: string }[]>`
        select distinct t.platform
        from delivery.publish_tasks t
        where t.handles is not null
        and t.status in ('unknown', 'reconciling')
        and t.account_id in ${system.sql(accountIds)}`;
      return rows.length === platforms.length;
    },
    { timeoutMs: SETTLE_MS },
  );
}

describe("the search for leaks:", () => {
  const token = "canary.Zm9vYmFy+/=?&_0123456789";

  test.each([
    ["as it is", token],
    ["with percent-encoding", encodeURIComponent(token)],
    ["as bytes in hex", Buffer.from(token).toString("hex")],
    ["as basic credentials", Buffer.from(`user:${token}`).toString("base64")],
    ["as longer basic credentials", Buffer.from(`a.user:${token}, and more`).toString("base64")],
    ["as a part of a base64url body", Buffer.from(`{"a":"${token}"}`).toString("base64url")],
  ])("the test that searches for leaked secrets finds a secret that is written %s", (_, text) => {
    const places = new Map([
      ["a log", `{"msg":"sent ${text}"}`],
      ["another", '{"msg":"sent"}'],
    ]);
    expect(findLeaks(new Map([["token", token]]), places)).toEqual(["token in a log"]);
  });
});

describe("traces:", () => {
  testTraces(() => ({ system, tenant, collector }));
});

test("no log, trace, event, error response, metric or table contains a secret that a test sent to the system", async () => {
  await useKeys();
  await useDashboard();
  await approveAccounts();
  await authorizeWithSecrets();
  await useUploads();
  await importVideos();
  await publish();
  await renewAndDisconnect();
  await leaveUploadsOpen();

  for (const [index, secret] of (await system.simulator.secrets()).entries())
    plant(`a platform's secret ${index}`, secret);
  const { identityKeys, ownerPassword, rolePasswords } = system.secrets();
  for (const [name, key] of Object.entries(identityKeys)) plant(`identity key of ${name}`, key);
  plant("password of the owner", ownerPassword);
  for (const [role, password] of Object.entries(rolePasswords))
    plant(`password of ${role}`, password);

  // The log and the traces contain all earlier requests as soon as they contain this last request.
  const traceparent = `00-${LAST_TRACE}-${"1".repeat(16)}-01`;
  await send("/api/v1/nothing", { headers: { "x-request-id": LAST_REQUEST, traceparent } });
  await eventually(() => system.logs().includes(LAST_REQUEST));
  await eventually(() => collector.received().includes(LAST_TRACE));
  const metrics = await readMetrics(system.local());
  const tables = await readTables(system.sql);
  const logs = readLogFiles(system.local());
  expect([...tables.keys()]).toEqual(
    expect.arrayContaining([
      "the table accounts.credentials",
      "the table accounts.authorizations",
      "the table delivery.outbox",
      "the table delivery.parked_events",
      "the table delivery.publish_tasks",
      "the table media.media",
      "the table posts.idempotency_keys",
    ]),
  );
  expect(tables.get("the table bus.records")).toContain("TargetUpdated");
  expect([...metrics.values()].every((text) => text.includes("process_cpu"))).toBe(true);
  expect(tables.get("the table delivery.publish_tasks")).toContain('"upload": {"sealed": "v1.h0.');
  expect(errorBodies.size).toBeGreaterThan(20);
  expect(secrets.size).toBeGreaterThan(150);

  const places = new Map([...logs, ...metrics, ...tables, ...errorBodies]);
  // An idempotency key does not authorize a request, and is stored so that a repeated request is
  // recognised.
  const expected = ["idempotency key in the table posts.idempotency_keys"];
  expect(findLeaks(secrets, places)).toEqual(expected);
  const traces = new Map([["the traces", collector.received()]]);
  expect(findLeaks(new Map([...secrets, ["text", TEXT]]), traces)).toEqual([]);
  expect(findLeaks(new Map([["span", "publish target"]]), traces)).toHaveLength(1);
  // The search finds values that services may store, which shows that the search reads the right
  // places. Texts of posts are in the tables of the posts service only.
  expect(findLeaks(new Map([["id", LAST_REQUEST]]), logs)).toEqual(["id in the log gateway.log"]);
  expect(findLeaks(new Map([["text", TEXT]]), places).toSorted()).toEqual([
    "text in the table posts.idempotency_keys",
    "text in the table posts.posts",
  ]);
  expectFindable(logs);
}, 600_000);

describe("without a trace collector:", () => {
  testWithoutCollector(() => ({ system, tenant, collector }));
});

/** Number of characters of a log that the search reads for each form of a secret. */
const LOG_LENGTH = 20_000;

/**
 * Checks that the search finds a secret in each of its forms in a copy of the end of a real log.
 */
function expectFindable(logs: ReadonlyMap<string, string>): void {
  const [where = "", text = ""] = [...logs].find(([name]) => name.includes("delivery")) ?? [];
  const all: Secrets = new Map([...secrets].slice(0, 20));
  for (const [what, secret] of all)
    for (const form of formsOf(secret)) {
      const copy = new Map([[where, `${text.slice(-LOG_LENGTH)}\n{"msg":"calling ${form}"}`]]);
      expect(findLeaks(new Map([[what, secret]]), copy)).toEqual([`${what} in ${where}`]);
    }
}
