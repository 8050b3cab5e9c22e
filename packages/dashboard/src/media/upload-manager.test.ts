import type { ReadyMedia } from "@postrider/client";
import { expect, test } from "vitest";
import { type Take, UploadManager } from "./upload-manager.ts";

const SOURCE = { url: "https://example.com/bridge.jpg?size=large" };
const media = (id: string) => ({ id }) as ReadyMedia;

/** Uploads that the test ends, in the order in which they were started. */
function open() {
  const sent: PromiseWithResolvers<ReadyMedia>[] = [];
  const signals: AbortSignal[] = [];
  const manager = new UploadManager((_source, signal) => {
    const answer = Promise.withResolvers<ReadyMedia>();
    sent.push(answer);
    signals.push(signal);
    return answer.promise;
  });
  const taken: string[] = [];
  const takeAs =
    (screen: string): Take =>
    ({ id }, order) =>
      void taken.push(`${screen}: ${id}, ${order}`);
  const names = () => manager.uploads.get().map(({ fileName, state }) => `${fileName} ${state}`);
  return { manager, sent, signals, taken, takeAs, names };
}

test("an upload goes on when its screen is left, and the file is taken by what was named for that", async () => {
  const { manager, sent, signals, taken, takeAs, names } = open();
  const leave = manager.show("draft", takeAs("screen"));
  manager.start("draft", SOURCE, takeAs("kept"));
  leave();
  manager.show("another", takeAs("another"));
  expect(signals[0]?.aborted).toBe(false);
  expect(names()).toEqual(["bridge.jpg sending"]);
  sent[0]?.resolve(media("m"));
  await expect.poll(() => taken).toEqual(["kept: m, 1"]);
  expect(names()).toEqual([]);
});

test("a screen that is shown again takes the files of its place, each with the order in which it was chosen", async () => {
  const { manager, sent, taken, takeAs } = open();
  const leave = manager.show("draft", takeAs("first"));
  manager.start("draft", SOURCE, takeAs("kept"));
  manager.start("draft", SOURCE, takeAs("kept"));
  leave();
  manager.show("draft", takeAs("second"));
  sent[1]?.resolve(media("b"));
  sent[0]?.resolve(media("a"));
  await expect.poll(() => taken).toEqual(["second: b, 2", "second: a, 1"]);
});

test("an upload that failed is sent again, and is forgotten with the screen that has shown the failure", async () => {
  const { manager, sent, taken, takeAs, names } = open();
  const leave = manager.show("draft", takeAs("screen"));
  manager.start("draft", SOURCE, takeAs("kept"));
  sent[0]?.reject(new Error("lost"));
  await expect.poll(names).toEqual(["bridge.jpg failed"]);
  manager.repeat("upload-1");
  expect(names()).toEqual(["bridge.jpg sending"]);
  sent[1]?.reject(new Error("lost again"));
  await expect.poll(names).toEqual(["bridge.jpg failed"]);
  leave();
  expect(names()).toEqual([]);
  expect(taken).toEqual([]);
});

test("an upload that is stopped is aborted, and nothing takes its file", async () => {
  const { manager, sent, signals, taken, takeAs, names } = open();
  manager.show("draft", takeAs("screen"));
  manager.start("draft", SOURCE, takeAs("kept"));
  manager.start("another", SOURCE, takeAs("kept"));
  manager.remove("upload-1");
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  manager.removeAll();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  sent[0]?.reject(new Error("aborted"));
  await Promise.resolve();
  expect([names(), taken]).toEqual([[], []]);
});
