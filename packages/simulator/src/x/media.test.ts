import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gifBytes, webpBytes } from "#src/testing-images.ts";
import {
  type Answer,
  itemsOf,
  jpegBytes,
  mp4Bytes,
  pngBytes,
  type TestAccount,
  TestSimulator,
  textOf,
  tweet,
} from "#src/testing.ts";

let simulator: TestSimulator;
let account: TestAccount;
let token: string;

beforeEach(async () => {
  simulator = await TestSimulator.start();
  account = await simulator.account("x");
  token = account.credentials["accessToken"] ?? "";
});

afterEach(() => simulator[Symbol.asyncDispose]());

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const idOf = (answer: Answer) => textOf(answer.body["data"]?.["id"]);
const PATH = "/x/2/media/upload";

function form(fields: Readonly<Record<string, string | Buffer>>): FormData {
  const parts = new FormData();
  for (const [name, value] of Object.entries(fields))
    if (typeof value === "string") parts.set(name, value);
    else parts.set(name, new Blob([new Uint8Array(value)]), "file");
  return parts;
}

const send = (path: string, fields: Readonly<Record<string, string | Buffer>>) =>
  simulator.call("POST", `${PATH}${path}`, { token, parts: form(fields) });
const uploadImage = (bytes: Buffer) => send("", { media: bytes, media_category: "tweet_image" });
const append = (id: string, index: number | string, media: Buffer) =>
  send(`/${id}/append`, { media, segment_index: String(index) });
const finalize = (id: string) => simulator.call("POST", `${PATH}/${id}/finalize`, { token });
const status = (id: string) =>
  simulator.call("GET", `${PATH}?command=STATUS&media_id=${id}`, { token });
const post = (mediaIds: readonly string[], text = "look") =>
  tweet(simulator, account, { text, media: { media_ids: mediaIds } });

function initialize(bytes: number, part: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
  const json = {
    media_type: "video/mp4",
    total_bytes: bytes,
    media_category: "tweet_video",
    ...part,
  };
  return simulator.call("POST", `${PATH}/initialize`, { token, json });
}

async function uploadInSegments(
  bytes: Buffer,
  part: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const id = idOf(await initialize(bytes.length, part));
  await append(id, 0, bytes);
  await finalize(id);
  return id;
}

test("the simulated X accepts an image in one call, as a form or as JSON, and GET /_control/visible shows the hash of its bytes", async () => {
  const uploaded = await uploadImage(pngBytes(1));
  const id = idOf(uploaded);
  expect(uploaded.body["data"]).toEqual({
    id,
    media_key: `3_${id}`,
    size: pngBytes(1).length,
    expires_after_secs: 86_400,
    image: { w: 1, h: 1, image_type: "image/png" },
  });
  const json = { media: pngBytes(2).toString("base64"), media_category: "tweet_image" };
  const second = idOf(await simulator.call("POST", PATH, { token, json }));
  expect((await post([id, second])).status).toBe(201);
  const [visible] = itemsOf(await simulator.control("/visible?platform=x"));
  expect(visible?.["media"]).toEqual([
    { kind: "image", sha256: sha256(pngBytes(1)) },
    { kind: "image", sha256: sha256(pngBytes(2)) },
  ]);
});

test("in a simulated X timeline, a tweet with media has its media keys, and its text ends with a link to the media", async () => {
  const id = idOf(await uploadImage(pngBytes()));
  await post([id], "see example.com");
  const path = `/x/2/users/${account.externalId}/tweets?tweet.fields=attachments,entities`;
  const shown = (await simulator.call("GET", path, { token })).body["data"]?.[0];
  expect(shown?.["attachments"]).toEqual({ media_keys: [`3_${id}`] });
  expect(shown?.["text"]).toMatch(/^see https:\/\/t\.co\/\w{10} https:\/\/t\.co\/\w{10}$/);
  const urls = itemsOf(shown?.["entities"]?.["urls"]);
  expect(urls.map((url) => url["media_key"])).toEqual([undefined, `3_${id}`]);
  const last = urls[1];
  expect(textOf(shown?.["text"]).slice(Number(last?.["start"]), Number(last?.["end"]))).toBe(
    last?.["url"],
  );
});

test("the simulated X accepts the segments of a video in any order and lets a tweet use the video only after processing", async () => {
  const bytes = mp4Bytes(3000);
  const started = await initialize(bytes.length);
  const id = idOf(started);
  const data = { id, media_key: `7_${id}`, expires_after_secs: 1_295_999 };
  expect(started.body["data"]).toEqual(data);
  expect((await status(id)).status).toBe(400);
  await append(id, 1, bytes.subarray(1000));
  const appended = await append(id, 0, Buffer.from("wrong and replaced"));
  expect(appended.body["data"]?.["expires_at"]).toBeTypeOf("number");
  await append(id, 0, bytes.subarray(0, 1000));
  expect((await finalize(id)).body["data"]).toMatchObject({
    id,
    size: 3000,
    expires_after_secs: 86_400,
    processing_info: { state: "pending", check_after_secs: 1 },
  });
  expect((await post([id])).status).toBe(400);
  await simulator.control("/clock", { advanceMs: 1000 });
  expect((await status(id)).body["data"]?.["processing_info"]).toMatchObject({
    state: "in_progress",
    check_after_secs: 1,
    progress_percent: expect.any(Number) as number,
  });
  await simulator.control("/clock", { advanceMs: 1000 });
  expect((await status(id)).body["data"]?.["processing_info"]).toEqual({
    state: "succeeded",
    progress_percent: 100,
  });
  expect((await post([id])).status).toBe(201);
  const [visible] = itemsOf(await simulator.control("/visible?platform=x"));
  expect(visible?.["media"]).toEqual([{ kind: "video", sha256: sha256(bytes) }]);
});

test("the simulated X answers status 400 to an upload call that violates a rule of X for uploads", async () => {
  const id = idOf(await initialize(2000));
  const part = mp4Bytes(1000);
  await append(id, 0, part);
  await append(id, 2, part);
  const other = await simulator.account("x");
  const theirs = { token: other.credentials["accessToken"] ?? "" };
  const answers = await Promise.all([
    initialize(0),
    initialize(512_000_001),
    initialize(1000, { media_type: "image/png" }),
    initialize(1000, { media_category: "tweet_photo" }),
    initialize(1000, { colour: "red" }),
    append(id, -1, part),
    append(id, 1000, part),
    append(id, "one", part),
    append(id, 1, Buffer.alloc(5 * 1024 * 1024 + 1)),
    append(id, 1, Buffer.alloc(0)),
    append("123", 0, part),
    finalize(id),
    finalize("123"),
    status("123"),
    simulator.call("POST", `${PATH}/${id}/finalize`, theirs),
    uploadImage(Buffer.from("<svg/>")),
    uploadImage(mp4Bytes()),
    uploadImage(Buffer.concat([pngBytes(), Buffer.alloc(5_000_000)])),
    send("", { media: pngBytes(), media_category: "tweet_image", colour: "red" }),
    simulator.call("POST", PATH, { token, json: { media_category: "tweet_image" } }),
  ]);
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 400));
});

test("the simulated X accepts a JPEG, PNG or WebP whose longer side has 8192 pixels, and refuses one with 8193", async () => {
  const png = pngBytes();
  png.writeUInt32BE(8192, 20);
  const larger = Buffer.from(png);
  larger.writeUInt32BE(8193, 20);
  const images: readonly (readonly [Buffer, number])[] = [
    [jpegBytes(0, 8192, 100), 200],
    [jpegBytes(0, 8193, 100), 400],
    [png, 200],
    [larger, 400],
    [webpBytes({ width: 100, height: 8192 }), 200],
    [webpBytes({ width: 100, height: 8193 }), 400],
  ];
  for (const [bytes, status] of images) expect((await uploadImage(bytes)).status).toBe(status);
  const bytes = webpBytes({ width: 8193, height: 100 });
  const id = idOf(
    await initialize(bytes.length, { media_type: "image/webp", media_category: "tweet_image" }),
  );
  await append(id, 0, bytes);
  expect((await finalize(id)).status).toBe(400);
});

test("the simulated X answers a WebP upload with the size of the image, and refuses an animated WebP", async () => {
  const still = await uploadImage(webpBytes({ width: 640, height: 480 }));
  expect(still.body["data"]?.["image"]).toEqual({ w: 640, h: 480, image_type: "image/webp" });
  expect((await uploadImage(webpBytes({ width: 640, height: 480, frames: 2 }))).status).toBe(400);
});

test.each([
  ["1280 x 1080 pixels and 217 frames", { width: 1280, height: 1080, frames: 217 }, true],
  ["more than 300 million pixels in all frames", { width: 1280, height: 1080, frames: 218 }, false],
  ["350 frames", { width: 100, height: 100, frames: 350 }, true],
  ["1281 pixels in width", { width: 1281, height: 100, frames: 2 }, false],
  ["1081 pixels in height", { width: 100, height: 1081, frames: 2 }, false],
  ["351 frames", { width: 100, height: 100, frames: 351 }, false],
])(
  "the simulated X applies X's limits to a GIF with %s that is uploaded in segments or in one call",
  async (_name, shape, isTaken) => {
    const bytes = gifBytes(shape);
    const about = { media_type: "image/gif", media_category: "tweet_gif" };
    const id = await uploadInSegments(bytes, about);
    await simulator.control("/clock", { advanceMs: 2000 });
    expect((await status(id)).body["data"]?.["processing_info"]?.["state"]).toBe(
      isTaken ? "succeeded" : "failed",
    );
    expect((await post([id])).status).toBe(isTaken ? 201 : 400);
    const whole = await send("", { media: bytes, media_category: "tweet_gif" });
    expect(whole.status).toBe(isTaken ? 200 : 400);
  },
);

test("the simulated X refuses a GIF of more than 15 MB", async () => {
  const about = { media_type: "image/gif", media_category: "tweet_gif" };
  expect((await initialize(15_000_000, about)).status).toBe(200);
  expect((await initialize(15_000_001, about)).status).toBe(400);
});

test("processing on the simulated X fails for an upload whose bytes are not a video, and a tweet with that upload is refused", async () => {
  const id = await uploadInSegments(Buffer.alloc(1000, "no video"));
  await simulator.control("/clock", { advanceMs: 2000 });
  expect((await status(id)).body["data"]?.["processing_info"]).toMatchObject({
    state: "failed",
    error: { name: "InvalidMedia" },
  });
  expect((await post([id])).status).toBe(400);
});

test("a simulated X tweet may contain four photos or one video, all uploaded by the tweet's account", async () => {
  const images: string[] = [];
  for (let index = 0; index < 5; index += 1) images.push(idOf(await uploadImage(pngBytes(index))));
  const [first = "", second = ""] = images;
  const video = await uploadInSegments(mp4Bytes());
  await simulator.control("/clock", { advanceMs: 5000 });
  const other = await simulator.account("x");
  for (const refused of [
    await post(images),
    await post([first, video]),
    await post([first, first]),
    await tweet(simulator, other, { text: "stolen", media: { media_ids: [first] } }),
  ])
    expect(refused.status).toBe(400);

  expect((await post(images.slice(0, 4), "")).status).toBe(201);
  expect((await post([video], "")).status).toBe(201);
  expect((await post([second], "again")).status).toBe(201);
  await simulator.control("/clock", { advanceMs: 3_600_000 });
  expect((await post([first], "later")).status).toBe(201);
});

test("the simulated X refuses a tweet with media that was uploaded a day earlier", async () => {
  const id = idOf(await uploadImage(pngBytes()));
  await simulator.control("/clock", { advanceMs: 86_400_000 });
  const refresh_token = account.credentials["refreshToken"] ?? "";
  const refresh = { grant_type: "refresh_token", refresh_token, client_id: "app" };
  const refreshed = await simulator.call("POST", "/x/2/oauth2/token", { form: refresh });
  token = textOf(refreshed.body["access_token"]);
  const late = { text: "late", media: { media_ids: [id] } };
  const answer = await simulator.call("POST", "/x/2/tweets", { token, json: late });
  expect([answer.status, answer.body["title"]]).toEqual([400, "Invalid Request"]);
});

test("a fault rule for `upload` or `status` applies to the media calls of the simulated platform X", async () => {
  for (const operation of ["upload", "status"])
    await simulator.control("/faults", { platform: "x", operation, mode: "status", status: 503 });
  expect((await uploadImage(pngBytes())).status).toBe(503);
  const id = await uploadInSegments(mp4Bytes());
  expect((await status(id)).status).toBe(503);
  expect((await status(id)).status).toBe(200);
});

test("a simulated X upload can be continued after a restart of the simulator, and its segments are deleted when it is complete", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "simulator-"));
  const bytes = mp4Bytes(2000);
  await simulator[Symbol.asyncDispose]();
  simulator = await TestSimulator.start({ dataDir });
  account = await simulator.account("x");
  token = account.credentials["accessToken"] ?? "";
  const id = idOf(await initialize(bytes.length));
  await append(id, 0, bytes.subarray(0, 1000));
  await simulator[Symbol.asyncDispose]();

  simulator = await TestSimulator.start({ dataDir });
  await append(id, 1, bytes.subarray(1000));
  expect((await finalize(id)).status).toBe(200);
  expect(readdirSync(join(dataDir, "pieces"))).toEqual([]);
  await simulator.control("/clock", { advanceMs: 2000 });
  expect((await post([id])).status).toBe(201);
  const [visible] = itemsOf(await simulator.control("/visible?platform=x"));
  expect(visible?.["media"]).toEqual([{ kind: "video", sha256: sha256(bytes) }]);
  rmSync(dataDir, { recursive: true });
});
