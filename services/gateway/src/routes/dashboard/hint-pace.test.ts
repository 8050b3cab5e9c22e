import type { DashboardEvent } from "@postrider/rest/dashboard/events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WorkspaceHints } from "#src/routes/dashboard/hint-pace.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** What is sent, and when, while a post changes every `everyMs`. */
function sendWhile(everyMs: number, forMs: number) {
  const sent: { readonly at: number; readonly event: DashboardEvent }[] = [];
  const from = performance.now();
  const hints = new WorkspaceHints(100, (events) =>
    sent.push(...events.map((event) => ({ at: performance.now() - from, event }))),
  );
  for (let at = 0; at < forMs; at += everyMs) {
    hints.add({ type: "target", id: "t1", postId: "p1" });
    vi.advanceTimersByTime(everyMs);
  }
  const timesOf = (isOne: boolean) =>
    sent.filter(({ event }) => (event.id !== null) === isOne).map(({ at }) => at);
  return { hints, sent, things: timesOf(true), lists: timesOf(false) };
}

test("the changes of one post within 6 s are sent to its page, and every second to lists", () => {
  const { things, lists } = sendWhile(1_000, 6_000);
  expect(things).toEqual([100, 1_100, 2_100, 3_100, 4_100, 5_100]);
  expect(lists).toEqual([100, 1_100, 2_100, 3_100, 4_100, 5_100]);
  expect(sendWhile(200, 3_000).lists).toEqual([100, 1_100, 2_100]);
});

test("changes that do not end are sent every 2 s to the page of the thing, and every 15 s to lists", () => {
  const { things, lists } = sendWhile(100, 600_000);
  expect(things.length).toBeLessThanOrEqual(6 + 300);
  expect(things.length).toBeGreaterThan(295);
  expect(lists.length).toBeLessThanOrEqual(6 + 40);
  expect(lists.length).toBeGreaterThan(38);
});

test("after a calm minute the next changes are sent within 100 ms again", () => {
  const { hints, sent } = sendWhile(100, 60_000);
  vi.advanceTimersByTime(90_000);
  const before = sent.length;
  hints.add({ type: "post", id: "p2" });
  vi.advanceTimersByTime(100);
  expect(sent.slice(before).map(({ event }) => event)).toEqual([
    { type: "post", id: "p2" },
    { type: "post", id: null },
  ]);
});

const RESYNC: DashboardEvent = { type: "resync", id: null };

test("a gap in the hints of a workspace is told once, and without hints for lists", () => {
  const { hints, sent } = sendWhile(1, 0);
  hints.add({ type: "post", id: null });
  for (let count = 0; count < 2; count += 1) hints.add(RESYNC);
  hints.add({ type: "media", id: null });
  vi.advanceTimersByTime(100);
  expect(sent.map(({ event }) => event)).toEqual([RESYNC]);
});

test("while more than 200 things change every 2 s, all pages are told to read again every 15 s at most", () => {
  const { hints, sent } = sendWhile(1, 0);
  for (let round = 0; round < 300; round += 1) {
    for (let count = 0; count < 300; count += 1) hints.add({ type: "media", id: `m${count}` });
    vi.advanceTimersByTime(2_000);
  }
  const resyncs = sent.filter(({ event }) => event.type === "resync");
  expect(resyncs.length).toBeLessThanOrEqual(6 + 40);
  expect(resyncs.length).toBeGreaterThan(38);
});
