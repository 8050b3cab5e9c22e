import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type Answer,
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
let token: string;
let files: Server;

const FILES: Readonly<Record<string, readonly [type: string, bytes: Buffer]>> = {
  "/one.jpg": ["image/jpeg", jpegBytes(1)],
  "/two.jpg": ["image/jpeg", jpegBytes(2)],
  "/wide.jpg": ["image/jpeg", jpegBytes(0, 2000, 1000)],
  "/portrait.jpg": ["image/jpeg", jpegBytes(0, 3024, 4032)],
  "/picture.png": ["image/png", pngBytes()],
  "/page.jpg": ["text/html", Buffer.from("<html>")],
  "/png-bytes.jpg": ["image/jpeg", pngBytes()],
  "/video.mp4": ["video/mp4", mp4Bytes(5000)],
};

beforeEach(async () => {
  simulator = await TestSimulator.start();
  account = await simulator.account("instagram");
  token = account.credentials["accessToken"] ?? "";
  files = createServer((request, response) => {
    const [type, bytes] = FILES[request.url ?? ""] ?? [];
    const moved = request.url === "/moved.jpg" ? { location: "/one.jpg" } : {};
    response.writeHead(type === undefined ? ("location" in moved ? 302 : 404) : 200, {
      ...(type === undefined ? {} : { "content-type": type }),
      ...moved,
    });
    response.end(bytes);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  files.listen(0, "127.0.0.1", resolve);
  await promise;
});

afterEach(async () => {
  files.close();
  await simulator[Symbol.asyncDispose]();
});

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const idOf = (answer: Answer) => textOf(answer.body["id"]);
const at = (path: string) => `http://127.0.0.1:${(files.address() as AddressInfo).port}${path}`;
const faultOf = ({ body }: Answer) => [body["error"]?.["code"], body["error"]?.["error_subcode"]];

type Fields = Readonly<Record<string, string>>;
const call = (method: string, path: string, form?: Fields) =>
  simulator.call(method, `/instagram/v25.0/${path}`, {
    token,
    ...(form === undefined ? {} : { form }),
  });
const create = (fields: Fields) => call("POST", `${account.externalId}/media`, fields);
const createImage = (fields: Fields = {}) => create({ image_url: at("/one.jpg"), ...fields });
const createPart = (fields: Fields = {}) => createImage({ is_carousel_item: "true", ...fields });
const publish = (id: string) =>
  call("POST", `${account.externalId}/media_publish`, { creation_id: id });
const status = async (id: string) =>
  (await call("GET", `${id}?fields=status_code,status`)).body["status_code"];
const advance = (advanceMs: number) => simulator.control("/clock", { advanceMs });
const visible = async () => itemsOf(await simulator.control("/visible?platform=instagram"));

/**
 * Lets the account grant the app the given permissions, and returns the token of the account's
 * Page.
 */
async function tokenWith(scope: string): Promise<string> {
  const client = { client_id: "app", redirect_uri: "https://app.test/callback" };
  const asked = new URLSearchParams({
    ...client,
    response_type: "code",
    state: "s".repeat(16),
    scope,
  });
  const dialog = `${simulator.url}/instagram/v25.0/dialog/oauth?${asked.toString()}`;
  const body = new URLSearchParams({ decision: "approve", username: account.username });
  const approved = await fetch(dialog, { method: "POST", redirect: "manual", body });
  const code = new URL(approved.headers.get("location") ?? "").searchParams.get("code") ?? "";
  const query = new URLSearchParams({ ...client, client_secret: "secret", code });
  const short = await call("GET", `oauth/access_token?${query.toString()}`);
  token = textOf(short.body["access_token"]);
  const pages = await call("GET", "me/accounts?fields=access_token");
  return textOf(itemsOf(pages.body["data"])[0]?.["access_token"]);
}

async function push(uri: string, bytes: Buffer, headers: Fields = {}): Promise<Answer> {
  const response = await fetch(uri, {
    method: "POST",
    headers: {
      authorization: `OAuth ${token}`,
      offset: "0",
      file_size: String(bytes.length),
      ...headers,
    },
    body: new Uint8Array(bytes),
  });
  const body = (await response.json()) as Answer["body"];
  return { status: response.status, headers: response.headers, body };
}

test("an image post on the simulated Instagram is visible as soon as its container is published, and the container cannot be published again", async () => {
  const container = idOf(await createImage({ caption: "Harbour #sea" }));
  expect(await status(container)).toBe("FINISHED");
  expect(await visible()).toEqual([]);
  const id = idOf(await publish(container));
  expect(id).not.toBe(container);
  expect(await status(container)).toBe("PUBLISHED");
  expect(faultOf(await publish(container))).toEqual([9007, 2_207_027]);
  expect(await visible()).toMatchObject([
    {
      id,
      text: "Harbour #sea",
      media: [{ kind: "image", sha256: sha256(jpegBytes(1)) }],
      createCalls: 1,
    },
  ]);
});

test("the permalink of a simulated Instagram post contains the shortcode of the post, not its id", async () => {
  const id = idOf(await publish(idOf(await createImage({ caption: "a" }))));
  const fields = "permalink,shortcode,caption,media_type,media_product_type,timestamp";
  const { body } = await call("GET", `${id}?fields=${fields}`);
  expect(body).toMatchObject({ id, caption: "a", media_type: "IMAGE" });
  expect(body["permalink"]).toBe(`https://www.instagram.com/p/${textOf(body["shortcode"])}/`);
  expect(body["permalink"]).not.toContain(id);
  expect(body["timestamp"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/);
});

test("the simulated Instagram publishes an uploaded video as a reel only after the processing of the video has finished", async () => {
  const made = await create({ media_type: "REELS", upload_type: "resumable", caption: "Reel" });
  const container = idOf(made);
  const uri = textOf(made.body["uri"]);
  expect(uri).toBe(`${simulator.url}/instagram/rupload/ig-api-upload/v25.0/${container}`);
  expect(await status(container)).toBe("IN_PROGRESS");
  const video = mp4Bytes(5000);
  expect((await push(uri, video, { offset: "7" })).body["debug_info"]).toMatchObject({
    type: "OffsetInvalidError",
  });
  expect((await push(uri, video)).body).toEqual({
    success: true,
    message: "Upload successful.",
  });
  expect(await status(container)).toBe("IN_PROGRESS");
  expect(faultOf(await publish(container))).toEqual([9007, 2_207_027]);
  await advance(2000);
  expect(await status(container)).toBe("FINISHED");
  const id = idOf(await publish(container));
  const { body } = await call("GET", `${id}?fields=permalink,media_product_type`);
  expect(body["permalink"]).toMatch(/^https:\/\/www\.instagram\.com\/reel\//);
  expect(await visible()).toMatchObject([{ media: [{ kind: "video", sha256: sha256(video) }] }]);
});

test("a simulated Instagram reel container fails when the file is not a video or cannot be fetched", async () => {
  const made = await create({ media_type: "REELS", upload_type: "resumable" });
  await push(textOf(made.body["uri"]), Buffer.from("text"));
  await advance(2000);
  const { body } = await call("GET", `${idOf(made)}?fields=status_code,status`);
  expect(body["status_code"]).toBe("ERROR");
  expect(body["status"]).toContain("2207026");
  const gone = await create({ media_type: "REELS", video_url: at("/none.mp4") });
  await advance(2000);
  expect(await status(idOf(gone))).toBe("ERROR");
});

test("the simulated Instagram fetches a reel's video from video_url", async () => {
  const container = idOf(await create({ media_type: "REELS", video_url: at("/video.mp4") }));
  await advance(2000);
  await publish(container);
  expect(await visible()).toMatchObject([{ media: [{ sha256: sha256(mp4Bytes(5000)) }] }]);
});

test("a simulated Instagram carousel shows its images and videos in the order of its child containers", async () => {
  const part = { is_carousel_item: "true", media_type: "VIDEO", upload_type: "resumable" };
  const video = await create(part);
  await push(textOf(video.body["uri"]), mp4Bytes(3000));
  const image = idOf(await createPart());
  const children = [idOf(video), image].join(",");
  const fields = { media_type: "CAROUSEL", children, caption: "Both" };
  expect(faultOf(await create(fields))).toEqual([9007, 2_207_027]);
  await advance(2000);
  const carousel = idOf(await create(fields));
  expect(faultOf(await publish(image))[0]).toBe(100);
  await publish(carousel);
  expect(await visible()).toMatchObject([
    { text: "Both", media: [{ kind: "video" }, { sha256: sha256(jpegBytes(1)) }] },
  ]);
});

test("the simulated Instagram refuses a carousel of 1 or 11 children, or with a repeated, unknown or unsuitable child container", async () => {
  const parts = [];
  for (let index = 0; index < 11; index += 1) parts.push(idOf(await createPart()));
  const [one = "", two = ""] = parts;
  const carousel = (...children: string[]) =>
    create({ media_type: "CAROUSEL", children: children.join(",") });
  const whole = idOf(await createImage());
  expect(faultOf(await carousel(one))).toEqual([100, 2_207_028]);
  expect(faultOf(await carousel(...parts))).toEqual([100, 2_207_028]);
  expect(faultOf(await carousel(one, one))[0]).toBe(100);
  expect(faultOf(await carousel(one, "123"))).toEqual([24, 2_207_008]);
  expect(faultOf(await carousel(one, whole))[0]).toBe(100);
  expect((await carousel(one, two)).status).toBe(200);
});

test("the simulated Instagram accepts uploaded video bytes with Facebook Login but not with Instagram Login, with which it fetches video_url", async () => {
  const own = account.credentials["instagramAccessToken"] ?? "";
  const createAs = (host: string, by: string, fields: Fields) =>
    simulator.call("POST", `/instagram${host}/v25.0/${account.externalId}/media`, {
      token: by,
      form: fields,
    });
  const kinds: readonly Fields[] = [
    { media_type: "REELS" },
    { media_type: "VIDEO", is_carousel_item: "true" },
  ];
  for (const kind of kinds) {
    const pushed = { ...kind, upload_type: "resumable" };
    expect((await createAs("", token, pushed)).status).toBe(200);
    expect(faultOf(await createAs("/login", own, pushed))).toEqual([100, undefined]);
    const pulled = { ...kind, video_url: at("/video.mp4") };
    expect((await createAs("/login", own, pulled)).status).toBe(200);
  }
});

test("a media container of the simulated Instagram expires when it is not published within a day", async () => {
  const container = idOf(await createImage());
  await advance(86_400_000);
  expect(await status(container)).toBe("EXPIRED");
  expect(faultOf(await publish(container))).toEqual([24, 2_207_008]);
  expect(await visible()).toEqual([]);
});

test.each([
  ["that does not exist", "/none.jpg", [9004, 2_207_052]],
  ["behind a redirect", "/moved.jpg", [9004, 2_207_052]],
  ["served as HTML", "/page.jpg", [9004, 2_207_052]],
  ["in PNG format", "/picture.png", [36_001, 2_207_005]],
  ["served as JPEG with PNG bytes", "/png-bytes.jpg", [36_001, 2_207_005]],
  ["that is too wide", "/wide.jpg", [36_003, 2_207_009]],
  ["with the ratio 3:4 of a phone", "/portrait.jpg", [36_003, 2_207_009]],
])("the simulated Instagram refuses an image %s", async (_name, path, fault) => {
  expect(faultOf(await createImage({ image_url: at(path) }))).toEqual(fault);
});

test.each([
  ["a caption that is too long", { caption: "a".repeat(2201) }, [36_004, 2_207_010]],
  ["31 hashtags", { caption: "#a ".repeat(31) }, [100, 2_207_040]],
  ["21 mentions", { caption: "@a ".repeat(21) }, [100, 2_207_040]],
  ["an unknown parameter", { colour: "red" }, [100, undefined]],
  ["an unknown media type", { media_type: "TEXT" }, [100, 2_207_023]],
  [
    "a caption although it is a carousel item",
    { is_carousel_item: "true", caption: "a" },
    [100, undefined],
  ],
  ["a reel without a video", { media_type: "REELS" }, [100, undefined]],
])(
  "the simulated Instagram refuses to create a media container with %s",
  async (_name, fields, fault) => {
    expect(faultOf(await createImage(fields))).toEqual(fault);
  },
);

test("a simulated Instagram account cannot use another account's containers, posts or API paths", async () => {
  const container = idOf(await createImage());
  const id = idOf(await publish(idOf(await createImage())));
  const { externalId } = account;
  account = await simulator.account("instagram");
  token = account.credentials["accessToken"] ?? "";
  expect(faultOf(await publish(container))).toEqual([24, 2_207_008]);
  for (const path of [container, id, externalId, `${externalId}/media`])
    expect(faultOf(await call("GET", path))).toEqual([100, 33]);
  expect(faultOf(await call("DELETE", id))).toEqual([100, 33]);
  expect(await visible()).toHaveLength(1);
});

test("the simulated Instagram refuses a call with an unknown token or with the token of a user who removed the app", async () => {
  const good = token;
  token = "EAAnonsense";
  expect(faultOf(await createImage())).toEqual([190, 467]);
  token = good;
  expect((await call("DELETE", "me/permissions")).body).toEqual({ success: true });
  expect(faultOf(await createImage())).toEqual([190, 458]);
});

describe("Instagram limits", () => {
  const limit = async () => {
    const path = `${account.externalId}/content_publishing_limit?fields=quota_usage,config`;
    return itemsOf((await call("GET", path)).body["data"])[0];
  };

  test("the simulated Instagram reports the number of posts in the last 24 hours and refuses the 51st post", async () => {
    for (let posts = 0; posts < 50; posts += 1) await publish(idOf(await createImage()));
    const config = { quota_total: 50, quota_duration: 86_400 };
    expect(await limit()).toEqual({ quota_usage: 50, config });
    const container = idOf(await createImage());
    expect(faultOf(await publish(container))).toEqual([9, 2_207_042]);
    await simulator.control("/settings", { quotas: false });
    expect(await limit()).toMatchObject({ quota_usage: 0 });
    expect((await publish(container)).status).toBe(200);
    await simulator.control("/settings", { quotas: true });
    await advance(86_400_000);
    expect(await limit()).toEqual({ quota_usage: 0, config });
    expect(await visible()).toHaveLength(51);
  });

  test("the simulated Instagram refuses to create the 401st media container within a day", async () => {
    const made = [];
    for (let count = 0; count < 400; count += 1)
      made.push(await create({ media_type: "REELS", upload_type: "resumable" }));
    expect(made.map((answer) => answer.status)).not.toContain(400);
    const refused = await create({ media_type: "REELS", upload_type: "resumable" });
    expect(faultOf(refused)[0]).toBe(80_002);
  });
});

test("the simulated Instagram lists an account's posts newest first, in pages, without deleted posts", async () => {
  const ids: string[] = [];
  for (const caption of ["one", "two", "three"]) {
    ids.push(idOf(await publish(idOf(await createImage({ caption })))));
    await advance(1000);
  }
  const removed = await call("DELETE", ids[1] ?? "");
  expect(removed.body).toEqual({ success: true, deleted_id: ids[1] });
  const path = `${account.externalId}/media?fields=caption&limit=1`;
  const first = await call("GET", path);
  expect(first.body["data"]).toEqual([{ id: ids[2], caption: "three" }]);
  const after = textOf(first.body["paging"]?.["cursors"]?.["after"]);
  const second = await call("GET", `${path}&after=${after}`);
  expect(second.body["data"]).toEqual([{ id: ids[0], caption: "one" }]);
  expect(second.body["paging"]?.["next"]).toBeUndefined();
  expect(faultOf(await call("DELETE", ids[1] ?? ""))).toEqual([100, 33]);
});

test("while a stale_reads fault rule exists, the simulated Instagram returns an earlier container status and an earlier list of posts", async () => {
  const container = idOf(await createImage());
  await advance(60_000);
  await publish(container);
  const rule = { platform: "instagram", mode: "stale_reads", delayMs: 30_000 };
  await simulator.control("/faults", rule);
  expect(await status(container)).toBe("FINISHED");
  const list = await call("GET", `${account.externalId}/media`);
  expect(list.body["data"]).toEqual([]);
  await advance(31_000);
  expect(await status(container)).toBe("PUBLISHED");
});

test("the simulated Instagram returns the metrics of an image post and refuses a metric that only reels have", async () => {
  const id = idOf(await publish(idOf(await createImage())));
  await simulator.control("/metrics", {
    platform: "instagram",
    account: account.username,
    id,
    views: 12,
    saves: 2,
  });
  const { body } = await call("GET", `${id}?fields=insights.metric(views,saved)`);
  expect(itemsOf(body["insights"]?.["data"]).map((one) => [one["name"], one["values"]])).toEqual([
    ["views", [{ value: 12 }]],
    ["saved", [{ value: 2 }]],
  ]);
  const wrong = await call("GET", `${id}?fields=insights.metric(views,reels_skip_rate)`);
  expect(faultOf(wrong)[0]).toBe(100);
});

test("the simulated Instagram refuses to read several posts with one call", async () => {
  const id = idOf(await publish(idOf(await createImage())));
  expect(await call("GET", `?ids=${id},${id}&fields=id`)).toMatchObject({
    status: 500,
    body: { error: { code: 100, message: expect.stringContaining("deprecated") as string } },
  });
});

test("the simulated Instagram requires the permissions for insights, comments and messages", async () => {
  const mediaId = idOf(await publish(idOf(await createImage())));
  const given = { platform: "instagram", account: account.username, mediaId };
  const { id } = await simulator.control("/comments", { ...given, author: "eve", text: "Hi" });
  token = await tokenWith("instagram_basic,pages_show_list");
  const paths = [
    `${mediaId}?fields=insights.metric(views)`,
    `${mediaId}/comments`,
    `${textOf(id)}/replies`,
    textOf(id),
  ];
  for (const path of paths) expect(faultOf(await call("GET", path))).toEqual([200, undefined]);
  expect(faultOf(await call("POST", "me/messages", {}))).toEqual([200, undefined]);
  expect((await call("GET", `${mediaId}?fields=like_count`)).status).toBe(200);
});
