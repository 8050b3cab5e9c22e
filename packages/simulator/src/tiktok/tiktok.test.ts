import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { webpBytes } from "#src/testing-images.ts";
import {
  type Answer,
  type Body,
  itemsOf,
  jpegBytes,
  mp4Bytes,
  pngBytes,
  type TestAccount,
  TestSimulator,
  textOf,
} from "#src/testing.ts";

let simulator: TestSimulator;
let account: TestAccount;

beforeEach(async () => {
  simulator = await TestSimulator.start();
  account = await simulator.account("tiktok");
  await simulator.control("/settings", { tiktokWholeVideoBytes: 0 });
});

afterEach(() => simulator[Symbol.asyncDispose]());

const MIB = 1024 * 1024;
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const errorOf = (answer: Answer) => [answer.status, answer.body["error"]?.["code"]];
const advance = (advanceMs: number) => simulator.control("/clock", { advanceMs });

function call(path: string, json: unknown = {}, by: TestAccount = account): Promise<Answer> {
  const token = by.credentials["accessToken"] ?? "";
  return simulator.call("POST", `/tiktok/v2/${path}`, { token, json });
}

const VIDEO = { title: "Ahoy #sea", privacy_level: "PUBLIC_TO_EVERYONE" };

function init(size: number, chunk = size, count = 1, info: object = VIDEO): Promise<Answer> {
  const source = { source: "FILE_UPLOAD", video_size: size, chunk_size: chunk };
  return call("post/publish/video/init/", {
    post_info: info,
    source_info: { ...source, total_chunk_count: count },
  });
}

async function put(
  uploadUrl: Body | undefined,
  bytes: Buffer,
  range: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(textOf(uploadUrl), {
    method: "PUT",
    headers: { "content-type": "video/mp4", "content-range": range, ...headers },
    body: new Uint8Array(bytes),
  });
}

const whole = (bytes: Buffer) => `bytes 0-${bytes.length - 1}/${bytes.length}`;

async function fetchStatus(publishId: Body | undefined): Promise<Body> {
  const { body } = await call("post/publish/status/fetch/", { publish_id: publishId });
  return body["data"] ?? {};
}

async function publishVideo(bytes: Buffer, info: object = VIDEO): Promise<Body | undefined> {
  const { body } = await init(bytes.length, bytes.length, 1, info);
  const answer = await put(body["data"]?.["upload_url"], bytes, whole(bytes));
  expect(answer.status).toBe(201);
  return body["data"]?.["publish_id"];
}

describe("TikTok video uploads", () => {
  test("a simulated TikTok video is visible after its last chunk, has the status published 1.2 s later and a post id another 1.5 s later", async () => {
    const bytes = mp4Bytes(11 * MIB, 7);
    const { body } = await init(bytes.length, 5 * MIB, 2);
    const { publish_id: id, upload_url: url } = body["data"] ?? {};
    expect(textOf(id)).toMatch(/^v_pub_file~v2-1\.\d+$/);
    const first = bytes.subarray(0, 5 * MIB);
    const last = bytes.subarray(5 * MIB);
    const total = bytes.length;
    expect((await put(url, first, `bytes 0-${5 * MIB - 1}/${total}`)).status).toBe(206);
    expect(await simulator.control("/visible?platform=tiktok")).toEqual([]);
    expect(await fetchStatus(id)).toMatchObject({
      status: "PROCESSING_UPLOAD",
      uploaded_bytes: 5 * MIB,
    });
    expect((await put(url, last, `bytes ${5 * MIB}-${total - 1}/${total}`)).status).toBe(201);
    expect(await simulator.control("/visible?platform=tiktok")).toMatchObject([
      { text: "Ahoy #sea", media: [{ kind: "video", sha256: sha256(bytes) }], createCalls: 1 },
    ]);
    expect((await fetchStatus(id))["status"]).toBe("PROCESSING_UPLOAD");
    await advance(1300);
    expect(await fetchStatus(id)).toMatchObject({
      status: "PUBLISH_COMPLETE",
      publicaly_available_post_id: [],
    });
    await advance(1500);
    const [shown] = itemsOf(await simulator.control("/visible?platform=tiktok"));
    const response = await fetch(`${simulator.url}/tiktok/v2/post/publish/status/fetch/`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${account.credentials["accessToken"] ?? ""}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ publish_id: id }),
    });
    // TikTok's post id is a JSON number that is too large for a JavaScript number.
    expect(await response.text()).toContain(
      `"publicaly_available_post_id":[${textOf(shown?.["id"])}]`,
    );
    expect(BigInt(textOf(shown?.["id"]))).toBeGreaterThan(2n ** 53n);
  });

  test("a simulated TikTok video that only its author may see is not visible to readers, and its post id is never returned", async () => {
    const id = await publishVideo(mp4Bytes(), { ...VIDEO, privacy_level: "SELF_ONLY" });
    await advance(60_000);
    expect(await fetchStatus(id)).toMatchObject({
      status: "PUBLISH_COMPLETE",
      publicaly_available_post_id: [],
    });
    expect(await simulator.control("/visible?platform=tiktok")).toEqual([]);
  });

  test("publishing on the simulated TikTok fails when the uploaded bytes are not a video", async () => {
    const id = await publishVideo(pngBytes());
    await advance(2000);
    expect(await fetchStatus(id)).toMatchObject({
      status: "FAILED",
      fail_reason: "file_format_check_failed",
    });
    expect(await simulator.control("/visible?platform=tiktok")).toEqual([]);
  });

  test.each([
    ["a chunk below 5 MB", 20 * MIB, 4 * MIB, 5],
    ["a chunk above 64 MB", 130 * MIB, 65 * MIB, 2],
    ["one chunk of more than 64 MB", 65 * MIB, 65 * MIB, 1],
    ["a chunk count that is rounded up", 11 * MIB, 5 * MIB, 3],
    ["a chunk larger than the file", MIB, 6 * MIB, 1],
    ["two chunks for a file below 5 MB", 4 * MIB, 2 * MIB, 2],
  ])(
    "the simulated TikTok refuses to start an upload with %s",
    async (_name, size, chunk, count) => {
      expect(errorOf(await init(size, chunk, count))).toEqual([400, "invalid_params"]);
    },
  );

  test("the simulated TikTok refuses a video of up to 64 MB in several chunks, unless the setting tiktokWholeVideoBytes allows it", async () => {
    expect(errorOf(await init(20 * MIB, 10 * MIB, 2))).toEqual([200, "ok"]);
    await simulator.control("/settings", { tiktokWholeVideoBytes: 64_000_000 });
    const refused = await init(20 * MIB, 10 * MIB, 2);
    expect(errorOf(refused)).toEqual([400, "invalid_params"]);
    expect(refused.body["error"]?.["message"]).toBe("The chunk size is invalid.");
    expect(errorOf(await init(20 * MIB))).toEqual([200, "ok"]);
    expect(errorOf(await init(65 * MIB, 10 * MIB, 6))).toEqual([200, "ok"]);
  });

  test("the simulated TikTok accepts upload chunks only in order, with the announced lengths and content type, and without a token", async () => {
    const bytes = mp4Bytes(11 * MIB);
    const total = bytes.length;
    const { body } = await init(total, 5 * MIB, 2);
    const url = body["data"]?.["upload_url"];
    const first = bytes.subarray(0, 5 * MIB);
    const last = bytes.subarray(5 * MIB);
    const early = await put(url, last, `bytes ${5 * MIB}-${total - 1}/${total}`);
    expect([early.status, early.headers.get("content-range")]).toEqual([416, `bytes */${total}`]);
    const range = `bytes 0-${5 * MIB - 1}/${total}`;
    expect((await put(url, first.subarray(1), range)).status).toBe(400);
    expect((await put(url, first, range, { authorization: "Bearer x" })).status).toBe(400);
    expect((await put(url, first, range, { "content-type": "image/png" })).status).toBe(400);
    expect((await put(url, first, range)).status).toBe(206);
    const again = await put(url, first, range);
    expect([again.status, again.headers.get("content-range")]).toEqual([
      416,
      `bytes 0-${5 * MIB - 1}/${total}`,
    ]);
    expect(await again.text()).toBe("");
  });

  test("the simulated TikTok refuses the bytes of an upload one hour after the upload was started", async () => {
    const bytes = mp4Bytes();
    const { body } = await init(bytes.length);
    await advance(3_600_000);
    const answer = await put(body["data"]?.["upload_url"], bytes, whole(bytes));
    expect([answer.status, await answer.text()]).toEqual([403, ""]);
  });

  test("a simulated TikTok upload can be continued after a restart of the simulator", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "simulator-"));
    const bytes = mp4Bytes(11 * MIB);
    const total = bytes.length;
    const before = await TestSimulator.start({ dataDir });
    await simulator[Symbol.asyncDispose]();
    simulator = before;
    account = await simulator.account("tiktok");
    await simulator.control("/settings", { tiktokWholeVideoBytes: 0 });
    const { body } = await init(total, 5 * MIB, 2);
    const url = textOf(body["data"]?.["upload_url"]);
    await put(
      body["data"]?.["upload_url"],
      bytes.subarray(0, 5 * MIB),
      `bytes 0-${5 * MIB - 1}/${total}`,
    );
    await before[Symbol.asyncDispose]();
    simulator = await TestSimulator.start({ dataDir });
    const moved = url.replace(before.url, simulator.url) as unknown as Body;
    const last = await put(
      moved,
      bytes.subarray(5 * MIB),
      `bytes ${5 * MIB}-${total - 1}/${total}`,
    );
    expect(last.status).toBe(201);
    expect(await simulator.control("/visible?platform=tiktok")).toMatchObject([
      { media: [{ sha256: sha256(bytes) }] },
    ]);
    rmSync(dataDir, { recursive: true });
  });
});

describe("TikTok photos", () => {
  const JPEG = Buffer.from("\xff\xd8\xff\xe0 a photo", "latin1");
  /** The URL path of a test photo, with its type, width and height. */
  const SIZED = /^\/(?<type>jpeg|webp)-(?<width>\d+)-(?<height>\d+)$/;
  const sized = (path: string): Buffer => {
    const { type, width, height } = SIZED.exec(path)?.groups ?? {};
    const size = { width: Number(width), height: Number(height) };
    return type === "webp" ? webpBytes(size) : jpegBytes(0, size.width, size.height);
  };
  let files: Server;
  let base: string;

  beforeEach(async () => {
    files = createServer((request, response) => {
      if (request.url === "/moved") response.writeHead(302, { location: "/photo" }).end();
      else if (request.url === "/photo") response.end(JPEG);
      else if (request.url === "/png") response.end(pngBytes());
      else if (SIZED.test(request.url ?? "")) response.end(sized(request.url ?? ""));
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
    const address = files.address();
    base = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  });
  afterEach(() => files.close());

  const INFO = { title: "Ships", description: "Ahoy", privacy_level: "PUBLIC_TO_EVERYONE" };
  const initPhotos = (urls: readonly string[], info: object = INFO) =>
    call("post/publish/content/init/", {
      media_type: "PHOTO",
      post_mode: "DIRECT_POST",
      post_info: info,
      source_info: { source: "PULL_FROM_URL", photo_images: urls, photo_cover_index: 0 },
    });

  test("the simulated TikTok fetches several photos and publishes them as one post", async () => {
    const { body } = await initPhotos([`${base}/photo`, `${base}/photo`]);
    const id = body["data"]?.["publish_id"];
    expect((await fetchStatus(id))["status"]).toBe("PROCESSING_DOWNLOAD");
    await advance(1300);
    expect((await fetchStatus(id))["status"]).toBe("PUBLISH_COMPLETE");
    const photo = { kind: "image", sha256: sha256(JPEG) };
    expect(await simulator.control("/visible?platform=tiktok")).toMatchObject([
      { text: "Ahoy", media: [photo, photo] },
    ]);
  });

  test.each([
    ["a redirect", "/moved", "photo_pull_failed"],
    ["status 404", "/gone", "photo_pull_failed"],
    ["a PNG", "/png", "file_format_check_failed"],
  ])(
    "a photo post on the simulated TikTok fails when one photo URL returns %s",
    async (_name, path, reason) => {
      const { body } = await initPhotos([`${base}/photo`, `${base}${path}`]);
      await advance(1300);
      const status = await fetchStatus(body["data"]?.["publish_id"]);
      expect(status).toMatchObject({ status: "FAILED", fail_reason: reason });
      expect(await simulator.control("/visible?platform=tiktok")).toEqual([]);
    },
  );

  test.each(["jpeg", "webp"])(
    "the simulated TikTok publishes a %s photo of up to 1080p, and fails a larger one",
    async (type) => {
      const statusOf = async (size: string) => {
        const { body } = await initPhotos([`${base}/${type}-${size}`]);
        await advance(1300);
        const { status, fail_reason: reason } = await fetchStatus(body["data"]?.["publish_id"]);
        return reason ?? status;
      };
      // Photo sizes that users report TikTok to accept or fail: Postiz #1875, 2026-08-11.
      expect(await statusOf("941-1672")).toBe("PUBLISH_COMPLETE");
      expect(await statusOf("1920-1080")).toBe("PUBLISH_COMPLETE");
      expect(await statusOf("1254-1254")).toBe("picture_size_check_failed");
      expect(await statusOf("1086-1448")).toBe("picture_size_check_failed");
      expect(await statusOf("1000-1921")).toBe("picture_size_check_failed");
    },
  );

  test("the simulated TikTok refuses a photo post with an unverified URL, more than 35 photos, no photo or a title that is too long", async () => {
    const unverified = [403, "url_ownership_unverified"];
    expect(errorOf(await initPhotos(["https://photos.example/1.jpg"]))).toEqual(unverified);
    expect(errorOf(await initPhotos(["http://203.0.113.9/1.jpg"]))).toEqual(unverified);
    const many = Array.from({ length: 36 }, () => `${base}/photo`);
    expect(errorOf(await initPhotos(many))).toEqual([400, "invalid_params"]);
    expect(errorOf(await initPhotos([]))).toEqual([400, "invalid_params"]);
    const long = { ...INFO, title: "a".repeat(91) };
    expect(errorOf(await initPhotos([`${base}/photo`], long))).toEqual([400, "invalid_params"]);
  });
});

describe("TikTok creators", () => {
  const withPrivacy = (level: string) => ({ ...VIDEO, privacy_level: level });

  test("the simulated TikTok reports a creator's posting options and refuses a post that does not comply with these options", async () => {
    const info = await call("post/publish/creator_info/query/");
    expect(info.body["data"]).toMatchObject({
      creator_username: account.username,
      privacy_level_options: ["PUBLIC_TO_EVERYONE", "MUTUAL_FOLLOW_FRIENDS", "SELF_ONLY"],
      max_video_post_duration_sec: 600,
    });
    expect(errorOf(await init(1000, 1000, 1, withPrivacy("FOLLOWER_OF_CREATOR")))).toEqual([
      403,
      "privacy_level_option_mismatch",
    ]);
    expect(errorOf(await init(1000, 1000, 1, { title: "no privacy" }))).toEqual([
      400,
      "invalid_params",
    ]);
    expect(errorOf(await init(1000, 1000, 1, { ...VIDEO, caption: "?" }))).toEqual([
      400,
      "invalid_params",
    ]);
  });

  test("the simulated TikTok restricts creators named `private…` or `short…`, and refuses public posts of an unaudited app", async () => {
    const restricted = await simulator.account("tiktok", "private.one");
    const info = await call("post/publish/creator_info/query/", {}, restricted);
    expect(itemsOf(info.body["data"]?.["privacy_level_options"])).not.toContain(
      "PUBLIC_TO_EVERYONE",
    );
    account = await simulator.account("tiktok", "short.videos");
    expect((await call("post/publish/creator_info/query/")).body["data"]).toMatchObject({
      max_video_post_duration_sec: 10,
    });
    account = await simulator.account("tiktok");
    await simulator.control("/settings", { audited: false });
    expect(errorOf(await init(1000))).toEqual([
      403,
      "unaudited_client_can_only_post_to_private_accounts",
    ]);
    expect((await init(1000, 1000, 1, withPrivacy("SELF_ONLY"))).status).toBe(200);
  });

  test("the simulated TikTok lets a creator start 6 posts per minute and 15 posts per day, and any number of posts when the setting quotas is off", async () => {
    for (let count = 0; count < 15; count += 1) {
      expect((await init(1000)).status).toBe(200);
      await advance(20_000);
    }
    expect(errorOf(await init(1000))).toEqual([403, "spam_risk_too_many_posts"]);
    await simulator.control("/settings", { quotas: false });
    for (let count = 0; count < 10; count += 1) expect((await init(1000)).status).toBe(200);
    await simulator.control("/settings", { quotas: true });
    await advance(86_400_000);
    account = await simulator.account("tiktok", account.username);
    for (let count = 0; count < 6; count += 1) expect((await init(1000)).status).toBe(200);
    expect(errorOf(await init(1000))).toEqual([429, "rate_limit_exceeded"]);
  });

  test("the simulated TikTok lets five creators post within 24 hours through an app without an audit", async () => {
    await simulator.control("/settings", { audited: false });
    const plan = [1000, 1000, 1, withPrivacy("SELF_ONLY")] as const;
    const start = async (name: string) => {
      account = await simulator.account("tiktok", name);
      return await init(...plan);
    };
    for (const name of ["private1", "private2", "private3", "private4", "private5", "private1"])
      expect((await start(name)).status).toBe(200);
    expect(errorOf(await start("private6"))).toEqual([403, "reached_active_user_cap"]);
    await advance(86_400_000);
    expect((await start("private6")).status).toBe(200);
  });

  test("the simulated TikTok refuses to report the publishing status of another creator's post or of an unknown publish id", async () => {
    const id = await publishVideo(mp4Bytes());
    const owner = account;
    account = await simulator.account("tiktok");
    const foreign = await call("post/publish/status/fetch/", { publish_id: id });
    expect(errorOf(foreign)).toEqual([403, "token_not_authorized_for_specified_publish_id"]);
    const unknown = await call("post/publish/status/fetch/", { publish_id: "v_pub_file~1" });
    expect(errorOf(unknown)).toEqual([400, "invalid_publish_id"]);
    account = owner;
  });
});

test("the video lists of the simulated TikTok contain a public post, with its counters, from the end of its moderation on", async () => {
  const ids: string[] = [];
  for (const title of ["one", "two", "three"]) {
    await publishVideo(mp4Bytes(1000, title.length), { ...VIDEO, title });
    await advance(10_000);
  }
  await publishVideo(mp4Bytes(), { ...VIDEO, privacy_level: "SELF_ONLY" });
  const page = await call("video/list/?fields=id,title,create_time,share_url", { max_count: 2 });
  const { videos, cursor, has_more: hasMore } = page.body["data"] ?? {};
  expect(itemsOf(videos).map((video) => video["title"])).toEqual(["three", "two"]);
  expect(hasMore).toBe(true);
  const next = await call("video/list/?fields=id,title", { max_count: 2, cursor });
  expect(itemsOf(next.body["data"]?.["videos"]).map((video) => video["title"])).toEqual(["one"]);
  ids.push(...itemsOf(videos).map((video) => textOf(video["id"])));
  const metrics = {
    platform: "tiktok",
    account: account.username,
    id: ids[0],
    views: 12,
    likes: 3,
  };
  await simulator.control("/metrics", metrics);
  const counted = await call("video/query/?fields=id,view_count,like_count,share_count", {
    filters: { video_ids: [ids[0]] },
  });
  expect(counted.body["data"]?.["videos"]).toEqual([
    { id: ids[0], view_count: 12, like_count: 3, share_count: 0 },
  ]);
  expect(errorOf(await call("video/list/?fields=secrets"))).toEqual([400, "invalid_params"]);
});

describe("TikTok tokens", () => {
  const app = { client_key: "app", client_secret: "secret" };
  const refresh = (token: string | undefined, part: Readonly<Record<string, string>> = app) =>
    simulator.call("POST", "/tiktok/v2/oauth/token/", {
      form: { ...part, grant_type: "refresh_token", refresh_token: token ?? "" },
    });

  test("a simulated TikTok access token is valid for two hours, a refresh token works once, and a used refresh token gets an error with status 200", async () => {
    await advance(7_200_000);
    expect(errorOf(await call("post/publish/creator_info/query/"))).toEqual([
      401,
      "access_token_invalid",
    ]);
    const { refreshToken } = account.credentials;
    const renewed = await refresh(refreshToken);
    expect(renewed.body).toMatchObject({ expires_in: 7200, open_id: account.externalId });
    const used = await refresh(refreshToken);
    expect([used.status, used.body["error"]]).toEqual([200, "invalid_grant"]);
    const token = textOf(renewed.body["access_token"]);
    const info = await simulator.call("GET", "/tiktok/v2/user/info/?fields=open_id,username", {
      token,
    });
    expect(info.body["data"]?.["user"]).toEqual({
      open_id: account.externalId,
      username: account.username,
    });
    expect((await refresh("x", { client_key: "app" })).body["error"]).toBe("invalid_client");
  });

  test("revoking a simulated TikTok access token also invalidates the refresh token of the same authorization", async () => {
    const token = account.credentials["accessToken"] ?? "";
    const revoked = await simulator.call("POST", "/tiktok/v2/oauth/revoke/", {
      form: { ...app, token },
    });
    expect(revoked.body).toEqual({});
    expect((await call("post/publish/creator_info/query/")).status).toBe(401);
    expect((await refresh(account.credentials["refreshToken"])).body["error"]).toBe(
      "invalid_grant",
    );
  });
});

describe("TikTok faults", () => {
  const fault = (operation: string, mode: string, extra: object = {}) =>
    simulator.control("/faults", { platform: "tiktok", operation, mode, ...extra });

  test("a fault rule for the operation publish applies to the last chunk of a simulated TikTok upload, but not to earlier chunks", async () => {
    const bytes = mp4Bytes(11 * MIB);
    const total = bytes.length;
    await fault("publish", "drop_after_commit");
    const { body } = await init(total, 5 * MIB, 2);
    const url = body["data"]?.["upload_url"];
    await put(url, bytes.subarray(0, 5 * MIB), `bytes 0-${5 * MIB - 1}/${total}`);
    const last = put(url, bytes.subarray(5 * MIB), `bytes ${5 * MIB}-${total - 1}/${total}`);
    await expect(last).rejects.toThrow("fetch failed");
    expect(itemsOf(await simulator.control("/visible?platform=tiktok"))).toHaveLength(1);
  });

  test("under a fault rule `status`, the simulated TikTok answers upload calls with the status alone, and API calls also with TikTok's error body", async () => {
    const bytes = mp4Bytes();
    const { body } = await init(bytes.length);
    await fault("publish", "status", { status: 500 });
    const bare = await put(body["data"]?.["upload_url"], bytes, whole(bytes));
    expect([bare.status, await bare.text()]).toEqual([500, ""]);
    await fault("create", "status", { status: 503 });
    expect(errorOf(await init(1000))).toEqual([503, "internal_error"]);
    await fault("create", "refuse");
    expect(errorOf(await init(1000))).toEqual([403, "spam_risk_user_banned_from_posting"]);
  });

  test("under a fault rule of the kind `stale_reads`, the simulated TikTok reports the status that an upload had earlier", async () => {
    const id = await publishVideo(mp4Bytes());
    await advance(2000);
    await simulator.control("/faults", {
      platform: "tiktok",
      mode: "stale_reads",
      delayMs: 60_000,
    });
    expect(await fetchStatus(id)).toMatchObject({ status: "PROCESSING_UPLOAD", uploaded_bytes: 0 });
  });
});
