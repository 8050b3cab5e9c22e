import { describe, expect, test } from "vitest";
import {
  afterFailure,
  afterPage,
  failureWaitMs,
  isReadDue,
  newMedia,
  readFloor,
  type WatchedMedia,
} from "./media-watch.ts";

const NOW = new Date("2026-11-23T12:00:00.000Z");
const MINUTE_MS = 60_000;

function minutesAgo(minutes: number): Date {
  return new Date(NOW.getTime() - minutes * MINUTE_MS);
}

function watched(given: Partial<WatchedMedia> = {}): WatchedMedia {
  return {
    mediaId: "m",
    commentCount: 5,
    readUntil: minutesAgo(10),
    readCursor: null,
    readNewest: null,
    quietReads: 0,
    readAt: new Date(NOW.getTime() + MINUTE_MS),
    failures: 0,
    lastError: null,
    ...given,
  };
}

const seen = (commentCount: number | null) => ({ id: "m", publishedAt: NOW, commentCount });
const context = { floor: minutesAgo(10), commentCount: 6, pollMs: MINUTE_MS, now: NOW };

describe("the comments on media are due to be read:", () => {
  test.each([
    ["when their number has grown", {}, 6, true],
    ["when their number has shrunk", {}, 4, true],
    ["not when their number is the same", {}, 5, false],
    ["not when the platform does not give their number", {}, null, false],
    ["when they have not been read for long", { readAt: NOW }, 5, true],
    ["when a read has not ended", { readCursor: "c" }, 5, true],
    ["not before their wait after a failure is over", { failures: 1, readCursor: "c" }, 6, false],
    ["when their wait after a failure is over", { failures: 1, readAt: NOW }, 5, true],
  ])("%s", (_, given, count, expected) => {
    expect(isReadDue(watched(given), seen(count), NOW)).toBe(expected);
  });
});

test("the comments on new media are read at once, and those on media that were published after the rule's activation are read first", () => {
  const oldestActivation = minutesAgo(5);
  const young = newMedia(seen(3), { oldestActivation });
  const old = newMedia({ ...seen(3), publishedAt: minutesAgo(60) }, { oldestActivation });
  expect([young.commentCount, old.commentCount]).toEqual([null, 3]);
  expect([isReadDue(young, seen(3), NOW), isReadDue(old, seen(3), NOW)]).toEqual([true, true]);
});

test("a read of comments goes back to half a minute before the newest known comment, but not beyond the rule's activation", () => {
  expect(readFloor(watched(), minutesAgo(60))).toEqual(minutesAgo(10.5));
  expect(readFloor(watched(), minutesAgo(2))).toEqual(minutesAgo(2));
  expect(readFloor(watched({ readUntil: null }), minutesAgo(60))).toEqual(minutesAgo(60));
});

test("a read of comments continues page by page to the known comments, and then stores the time of the newest comment", () => {
  const first = afterPage(
    watched(),
    { times: [minutesAgo(1), minutesAgo(2)], next: "page 2" },
    context,
  );
  expect(first).toMatchObject({
    readCursor: "page 2",
    readNewest: minutesAgo(1),
    readUntil: minutesAgo(10),
    commentCount: 5,
  });
  const second = afterPage(
    first,
    { times: [minutesAgo(3), minutesAgo(11)], next: "page 3" },
    context,
  );
  expect(second).toEqual({
    mediaId: "m",
    commentCount: 6,
    readUntil: minutesAgo(1),
    readCursor: null,
    readNewest: null,
    quietReads: 0,
    readAt: new Date(NOW.getTime() + 5 * MINUTE_MS),
    failures: 0,
    lastError: null,
  });
});

test("a read of comments includes all comments with the same time as the oldest one that it has to read", () => {
  const page = { times: [minutesAgo(10), minutesAgo(10)], next: "page 2" };
  expect(afterPage(watched(), page, context).readCursor).toBe("page 2");
});

test("media without new comments are read again after 5, 10, 20 minutes and so on, at most after 6 hours", () => {
  let media = watched();
  const waits = Array.from({ length: 9 }, () => {
    media = afterPage(media, { times: [], next: undefined }, context);
    return (media.readAt.getTime() - NOW.getTime()) / MINUTE_MS;
  });
  expect(waits).toEqual([10, 20, 40, 80, 160, 320, 360, 360, 360]);
});

test("media with an unknown number of comments are read in every poll, and without new comments at least every 30 minutes", () => {
  let media = watched();
  const uncounted = { ...context, commentCount: null };
  media = afterPage(media, { times: [NOW], next: undefined }, uncounted);
  const waits = [media.readAt];
  for (let reads = 0; reads < 6; reads++) {
    media = afterPage(media, { times: [], next: undefined }, uncounted);
    waits.push(media.readAt);
  }
  const minutes = waits.map((at) => (at.getTime() - NOW.getTime()) / MINUTE_MS);
  expect(minutes).toEqual([1, 2, 4, 8, 16, 30, 30]);
});

test("after each failed poll an account waits twice as long, and at least as long as the platform asked for", () => {
  const pollMs = MINUTE_MS;
  expect([1, 2, 5, 60].map((failures) => failureWaitMs(failures, { pollMs }))).toEqual([
    2 * pollMs,
    4 * pollMs,
    30 * pollMs,
    30 * pollMs,
  ]);
  expect(failureWaitMs(1, { pollMs, retryAfterMs: 60 * pollMs })).toBe(60 * pollMs);
});

describe("media whose comments could not be read wait twice as long after each failure,", () => {
  const failure = { isRefused: false, error: "e", pollMs: MINUTE_MS, now: NOW };
  const reading = watched({ readCursor: "page 2", readNewest: NOW });

  test("and a read that had reached a later page of comments continues on that page", () => {
    const first = afterFailure(reading, failure);
    expect(first).toMatchObject({ readCursor: "page 2", failures: 1, readAt: minutesAgo(-2) });
    expect(afterFailure(first, failure)).toMatchObject({ failures: 2, readAt: minutesAgo(-4) });
  });

  test.each([
    ["was refused", { ...failure, isRefused: true }, reading],
    ["failed three times", failure, { ...reading, failures: 2 }],
  ])(
    "and a read that had reached a later page of comments and %s starts again at the newest comment and keeps what earlier reads found",
    (_, by, media) => {
      expect(afterFailure(media, by)).toMatchObject({
        readCursor: null,
        readNewest: null,
        readUntil: reading.readUntil,
        commentCount: null,
      });
    },
  );
});
