import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { webpBytes } from "#src/testing-images.ts";
import {
  type Answer,
  itemsOf,
  mp4Bytes,
  pngBytes,
  telegram,
  type TestAccount,
  TestSimulator,
} from "#src/testing.ts";

let simulator: TestSimulator;
let channel: TestAccount;

beforeEach(async () => {
  simulator = await TestSimulator.start();
  channel = await simulator.account("telegram", "harbour_times");
});

afterEach(() => simulator[Symbol.asyncDispose]());

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const image = (bytes: Buffer) => ({ kind: "image", sha256: sha256(bytes) });
const video = (bytes: Buffer) => ({ kind: "video", sha256: sha256(bytes) });

/** The bytes of a PNG whose header declares the given size in pixels. */
function pngOf(width: number, height: number): Buffer {
  const bytes = pngBytes();
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

function post(method: string, fields: Readonly<Record<string, string | Buffer>>): Promise<Answer> {
  const parts = new FormData();
  parts.set("chat_id", channel.externalId);
  for (const [name, value] of Object.entries(fields))
    if (typeof value === "string") parts.set(name, value);
    else parts.set(name, new Blob([new Uint8Array(value)]), "file");
  const path = `/telegram/bot${channel.credentials["botToken"] ?? ""}/${method}`;
  return simulator.call("POST", path, { parts });
}

function album(
  files: readonly Buffer[],
  part: (index: number) => Readonly<Record<string, unknown>> = () => ({}),
): Promise<Answer> {
  const media = files.map((bytes, index) => ({
    type: bytes.includes("ftyp") ? "video" : "photo",
    media: `attach://file${index}`,
    ...part(index),
  }));
  const attached = Object.fromEntries(files.map((bytes, index) => [`file${index}`, bytes]));
  return post("sendMediaGroup", { media: JSON.stringify(media), ...attached });
}

const visible = async () => itemsOf(await simulator.control("/visible?platform=telegram"));

test("GET /_control/visible shows a simulated Telegram photo with its caption and the hash of its bytes", async () => {
  const bytes = pngOf(640, 480);
  const answer = await post("sendPhoto", { photo: bytes, caption: "Ships & sails" });
  expect(answer.body["result"]).toMatchObject({
    message_id: 2,
    caption: "Ships & sails",
    photo: [{ width: 640, height: 480, file_size: bytes.length }],
  });
  expect(await visible()).toMatchObject([
    { id: "2", text: "Ships & sails", media: [image(bytes)], createCalls: 1 },
  ]);
});

test("the simulated Telegram takes a WebP photo and returns its size", async () => {
  const answer = await post("sendPhoto", { photo: webpBytes({ width: 9000, height: 1000 }) });
  expect(answer.body["result"]).toMatchObject({ photo: [{ width: 9000, height: 1000 }] });
});

test("the simulated Telegram returns a video and an animation with the width, height and duration that the caller gave", async () => {
  const about = { width: "1280", height: "720", duration: "12", supports_streaming: "true" };
  const sent = await post("sendVideo", { video: mp4Bytes(), ...about });
  expect(sent.body["result"]).toMatchObject({
    video: { width: 1280, height: 720, duration: 12, mime_type: "video/mp4" },
  });
  const gif = Buffer.from("GIF89a\x20\x03\x58\x02rest", "latin1");
  expect((await post("sendAnimation", { animation: gif })).status).toBe(200);
  expect((await visible()).map((entry) => entry["media"])).toEqual([
    [video(mp4Bytes())],
    [{ kind: "gif", sha256: sha256(gif) }],
  ]);
});

test("a simulated Telegram album is one post for readers, and its files are messages with consecutive ids", async () => {
  const files = [pngBytes(1), mp4Bytes(), pngBytes(2)];
  const answer = await album(files, (index) => (index === 0 ? { caption: "Three" } : {}));
  const messages = itemsOf(answer.body["result"]);
  expect(messages.map((message) => message["message_id"])).toEqual([2, 3, 4]);
  expect(new Set(messages.map((message) => message["media_group_id"])).size).toBe(1);
  expect(messages.map((message) => message["caption"])).toEqual(["Three", undefined, undefined]);
  expect(await visible()).toMatchObject([
    {
      id: "2,3,4",
      text: "Three",
      media: [image(pngBytes(1)), video(mp4Bytes()), image(pngBytes(2))],
    },
  ]);
});

test("each message of a simulated Telegram album can be deleted, and the album disappears with its last message", async () => {
  const files = [pngBytes(1), pngBytes(2), pngBytes(3)];
  await album(files, (index) => (index === 0 ? { caption: "Three" } : {}));
  await telegram(simulator, channel, "deleteMessage", { message_id: 2 });
  expect(await visible()).toMatchObject([
    { text: "", media: [image(pngBytes(2)), image(pngBytes(3))] },
  ]);
  const again = await telegram(simulator, channel, "deleteMessage", { message_id: 2 });
  expect(again.body["description"]).toBe("Bad Request: message to delete not found");
  await telegram(simulator, channel, "deleteMessages", { message_ids: [2, 3, 4] });
  expect(await visible()).toEqual([]);
});

test("each message of a simulated Telegram album counts against the rate limit, and an album that exceeds the limit is refused as a whole", async () => {
  const nine = Array.from({ length: 9 }, (_, index) => pngBytes(index));
  await album(nine);
  await album(nine);
  expect((await album([pngBytes(1), pngBytes(2), pngBytes(3)])).status).toBe(429);
  expect((await album([pngBytes(1), pngBytes(2)])).status).toBe(200);
  expect(await visible()).toHaveLength(3);
});

test.each([
  ["a call without a file", "sendPhoto", {}, "there is no photo in the request"],
  ["an empty file", "sendPhoto", { photo: Buffer.alloc(0) }, "file must be non-empty"],
  ["a file that is not an image", "sendPhoto", { photo: mp4Bytes() }, "IMAGE_PROCESS_FAILED"],
  [
    "a TIFF",
    "sendPhoto",
    { photo: Buffer.from("II*\0\x08\0\0\0", "latin1") },
    "IMAGE_PROCESS_FAILED",
  ],
  [
    "a photo whose width and height add up to more than 10,000 pixels",
    "sendPhoto",
    { photo: pngOf(9000, 1001) },
    "PHOTO_INVALID_DIMENSIONS",
  ],
  [
    "a photo with an aspect ratio above 20",
    "sendPhoto",
    { photo: pngOf(2100, 100) },
    "PHOTO_INVALID_DIMENSIONS",
  ],
  [
    "a WebP whose width and height add up to more than 10,000 pixels",
    "sendPhoto",
    { photo: webpBytes({ width: 9000, height: 1001 }) },
    "PHOTO_INVALID_DIMENSIONS",
  ],
  [
    "a WebP with an aspect ratio above 20",
    "sendPhoto",
    { photo: webpBytes({ width: 100, height: 2100 }) },
    "PHOTO_INVALID_DIMENSIONS",
  ],
  [
    "an animated WebP",
    "sendPhoto",
    { photo: webpBytes({ width: 100, height: 100, frames: 2 }) },
    "IMAGE_PROCESS_FAILED",
  ],
  [
    "a HEIC",
    "sendPhoto",
    { photo: Buffer.from("\0\0\0\x18ftypheic", "latin1") },
    "IMAGE_PROCESS_FAILED",
  ],
  [
    "a HEIC instead of a video",
    "sendVideo",
    { video: Buffer.from("\0\0\0\x18ftypheic", "latin1") },
    "VIDEO_CONTENT_TYPE_INVALID",
  ],
  [
    "a photo of more than 10 MB",
    "sendPhoto",
    { photo: Buffer.concat([pngBytes(), Buffer.alloc(10_000_000)]) },
    "file is too big for a photo",
  ],
  ["an image instead of a video", "sendVideo", { video: pngBytes() }, "VIDEO_CONTENT_TYPE_INVALID"],
  [
    "a caption that is too long",
    "sendPhoto",
    { photo: pngBytes(), caption: "a".repeat(1025) },
    "message caption is too long",
  ],
  [
    "an unknown file id",
    "sendPhoto",
    { photo: "AgACAgIAAx" },
    "wrong file identifier/HTTP URL specified",
  ],
  [
    "a URL that it cannot fetch",
    "sendPhoto",
    { photo: "https://example.com/a.png" },
    "failed to get HTTP URL content",
  ],
])("the simulated Telegram refuses %s", async (_name, method, fields, description) => {
  const answer = await post(method, fields);
  expect(answer.body).toEqual({
    ok: false,
    error_code: 400,
    description: `Bad Request: ${description}`,
  });
  expect(await visible()).toEqual([]);
});

test("the simulated Telegram refuses a video of more than 50 MB with status 413", async () => {
  const answer = await post("sendVideo", { video: mp4Bytes(50_000_001) });
  expect(answer.body).toEqual({
    ok: false,
    error_code: 413,
    description: "Request Entity Too Large",
  });
});

test("the simulated Telegram refuses a whole album when the number of files is wrong or when one file is missing or its type or caption is invalid", async () => {
  const png = pngBytes();
  const answers = [
    await album([png]),
    await album(Array.from({ length: 11 }, () => png)),
    await album([png, png], () => ({ type: "document" })),
    await album([png, png], (index) => ({ media: `attach://missing${index}` })),
    await album([png, mp4Bytes()], () => ({ caption: "a".repeat(1025) })),
  ];
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400));
  expect(await visible()).toEqual([]);
});

test("a file of a simulated Telegram album that cannot be processed keeps no other file from being sent, and the answer is only its error", async () => {
  const broken = Buffer.from("text");
  const answer = await album([pngBytes(1), broken, pngBytes(2)]);
  expect(answer.body).toEqual({
    ok: false,
    error_code: 400,
    description:
      'Bad Request: failed to send message #2 with the error message "IMAGE_PROCESS_FAILED"',
  });
  expect((await album([broken, broken])).status).toBe(400);
  expect(await visible()).toMatchObject([
    { id: "2,3", media: [image(pngBytes(1)), image(pngBytes(2))] },
  ]);
});

test("simulated Telegram albums and each of their messages survive a restart of the simulator", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "simulator-"));
  try {
    await simulator[Symbol.asyncDispose]();
    simulator = await TestSimulator.start({ dataDir });
    channel = await simulator.account("telegram", "harbour_times");
    await album([pngBytes(1), pngBytes(2)]);
    await simulator[Symbol.asyncDispose]();
    simulator = await TestSimulator.start({ dataDir });
    expect(await visible()).toMatchObject([{ id: "2,3" }]);
    await telegram(simulator, channel, "deleteMessage", { message_id: 2 });
    expect(await visible()).toMatchObject([{ media: [image(pngBytes(2))] }]);
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});

test("GET /_control/visible/{platform}/{id}/media/{index} answers with the media file that a post's readers load and its type", async () => {
  const files = [pngOf(20, 10), mp4Bytes()];
  await album(files);
  const [{ id: own } = { id: "" }] = (await visible()) as readonly { id?: unknown }[];
  const load = (index: number, id = own as string) =>
    fetch(
      `${simulator.url}/_control/visible/telegram/${encodeURIComponent(id)}/media/${index}?account=${channel.externalId}`,
    );
  const answers = await Promise.all([load(0), load(1)]);
  expect(answers.map(({ headers }) => headers.get("content-type"))).toEqual([
    "image/png",
    "video/mp4",
  ]);
  for (const [index, answer] of answers.entries())
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(files[index]);
  const missing = await Promise.all([load(2), load(0, "0")]);
  expect(missing.map(({ status }) => status)).toEqual([404, 404]);
});
