import { createHash } from "node:crypto";
import { Api, type GrammyError, InputFile, InputMediaBuilder } from "grammy";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gifBytes } from "#src/testing-images.ts";
import {
  itemsOf,
  jpegBytes,
  mp4Bytes,
  pngBytes,
  type TestAccount,
  TestSimulator,
} from "#src/testing.ts";

/**
 * These tests use grammY, a public client library for Telegram, to check that the simulator behaves
 * like the real Bot API. The Bot API has no call that reads a message which the bot sent, so the
 * tests compare the messages that the sending calls return.
 */
let simulator: TestSimulator;
let channel: TestAccount;
let api: Api;

beforeEach(async () => {
  simulator = await TestSimulator.start();
  channel = await simulator.account("telegram");
  const { botToken = "" } = channel.credentials;
  api = new Api(botToken, { apiRoot: `${simulator.url}/telegram` });
});

afterEach(() => simulator[Symbol.asyncDispose]());

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const visible = async () => itemsOf(await simulator.control("/visible?platform=telegram"));

test("the Telegram client library grammY sends a text, a photo and a video to the simulator", async () => {
  const text = await api.sendMessage(channel.externalId, "Hello");
  const photo = await api.sendPhoto(channel.externalId, new InputFile(pngBytes()), {
    caption: "A photo",
  });
  const video = await api.sendVideo(channel.externalId, new InputFile(mp4Bytes(), "video.mp4"), {
    width: 640,
    height: 480,
    duration: 1,
    supports_streaming: true,
  });
  expect([text.message_id, photo.message_id, video.message_id]).toEqual([2, 3, 4]);
  expect(photo.caption).toBe("A photo");
  expect(video.video).toMatchObject({ width: 640, height: 480, duration: 1 });
  expect((await visible()).map((entry) => entry["media"])).toEqual([
    [],
    [{ kind: "image", sha256: sha256(pngBytes()) }],
    [{ kind: "video", sha256: sha256(mp4Bytes()) }],
  ]);
});

test("the Telegram client library grammY sends a single photo to the simulator, reads the channel and deletes the photo", async () => {
  const message = await api.sendPhoto(
    channel.externalId,
    new InputFile(jpegBytes(1, 1280, 960), "harbour.jpg"),
    { caption: "<b>Harbour</b>", parse_mode: "HTML", disable_notification: true },
  );
  expect(message).toMatchObject({
    chat: { id: Number(channel.externalId), type: "channel" },
    caption: "Harbour",
    photo: [{ width: 1280, height: 960, file_size: jpegBytes(1, 1280, 960).length }],
  });
  expect(await api.getChat(channel.externalId)).toMatchObject({
    id: Number(channel.externalId),
    type: "channel",
  });
  expect(await visible()).toMatchObject([
    { id: String(message.message_id), media: [{ sha256: sha256(jpegBytes(1, 1280, 960)) }] },
  ]);
  const remove = () => api.deleteMessage(channel.externalId, message.message_id);
  expect(await remove()).toBe(true);
  expect(await visible()).toEqual([]);
  await expect(remove()).rejects.toMatchObject({
    error_code: 400,
    description: "Bad Request: message to delete not found",
  });
});

test("the Telegram client library grammY sends a GIF to the simulator as an animation and deletes it", async () => {
  const gif = gifBytes({ width: 320, height: 240, frames: 3 });
  const message = await api.sendAnimation(channel.externalId, new InputFile(gif, "moving.gif"));
  expect(message.animation).toMatchObject({ width: 320, height: 240 });
  expect(await visible()).toMatchObject([{ media: [{ kind: "gif", sha256: sha256(gif) }] }]);
  expect(await api.deleteMessage(channel.externalId, message.message_id)).toBe(true);
  expect(await visible()).toEqual([]);
});

test("the Telegram client library grammY sends an album to the simulator and deletes it", async () => {
  const messages = await api.sendMediaGroup(channel.externalId, [
    InputMediaBuilder.photo(new InputFile(pngBytes(1)), { caption: "Two" }),
    InputMediaBuilder.video(new InputFile(mp4Bytes())),
  ]);
  expect(messages.map((message) => message.chat.id)).toEqual(
    messages.map(() => Number(channel.externalId)),
  );
  expect(await visible()).toMatchObject([{ id: "2,3", text: "Two" }]);
  const ids = messages.map((message) => message.message_id);
  expect(await api.deleteMessages(channel.externalId, ids)).toBe(true);
  expect(await visible()).toEqual([]);
});

test("the Telegram client library grammY reports the code and description with which the simulator refuses a call", async () => {
  await expect(
    api.sendPhoto(channel.externalId, new InputFile(Buffer.from("no image"))),
  ).rejects.toMatchObject({ error_code: 400, description: "Bad Request: IMAGE_PROCESS_FAILED" });
});

test("the Telegram client library grammY reads from an answer of the simulator with status 429 how many seconds to wait", async () => {
  const send = (number: number) => api.sendMessage(channel.externalId, `Number ${number}`);
  for (let number = 0; number < 20; number += 1) await send(number);
  const refused: unknown = await send(20).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    error_code: 429,
    parameters: { retry_after: expect.any(Number) as number },
  });
  const { parameters } = refused as GrammyError;
  await simulator.control("/clock", { advanceMs: (parameters.retry_after ?? 0) * 1000 });
  expect((await send(20)).message_id).toBe(22);
});
