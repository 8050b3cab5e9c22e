import { expect, test } from "vitest";
import type { AutomationRule } from "./automation-rule.ts";
import { chooseReads, type WatchedMedia } from "./media-watch.ts";

const NOW = new Date("2026-11-23T12:00:00.000Z");
const HOUR_MS = 3_600_000;

function hoursAgo(hours: number): Date {
  return new Date(NOW.getTime() - hours * HOUR_MS);
}

const RULE = { mediaIds: null, activatedAt: hoursAgo(1) } as unknown as AutomationRule;

function seen(id: string, commentCount = 3) {
  return { id, publishedAt: hoursAgo(100), commentCount };
}

function known(mediaId: string, given: Partial<WatchedMedia> = {}): WatchedMedia {
  return {
    mediaId,
    commentCount: 3,
    readUntil: null,
    readCursor: null,
    readNewest: null,
    quietReads: 0,
    readAt: hoursAgo(6),
    failures: 0,
    lastError: null,
    ...given,
  };
}

function choose(
  listed: ReturnType<typeof seen>[],
  stored: WatchedMedia[],
  isTurnOfOthers = false,
): readonly string[] {
  const turn = { known: stored, now: NOW, pollMs: 60_000, isTurnOfOthers };
  return chooseReads([RULE], listed, turn).map(({ media }) => media.mediaId);
}

const ids = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

test("a poll reads comments on at most ten older media that were never read, then on media whose next read is due", () => {
  const due = ids("known", 50);
  const first = ids("first", 50);
  const listed = [...due, ...first].map((id) => seen(id));
  const stored = due.map((id) => known(id));
  expect(choose(listed, stored)).toEqual([...first.slice(0, 10), ...due.slice(0, 5)]);
});

test("a poll first reads the comments on media whose number of comments has changed, and never reads media that have no comments", () => {
  const listed = [seen("first"), seen("changed", 4), seen("empty", 0)];
  expect(choose(listed, [known("changed")])).toEqual(["changed", "first"]);
});

test("of media with a changed number of comments or an unfinished read, those whose last read is longest ago are read first, and in turn one of the others before them", () => {
  const listed = ["new", "recent", "unfinished", "long-ago"].map((id) => seen(id, 4));
  const stored = [
    // A quiet one is read again late, although it was read long ago.
    known("long-ago", { readAt: hoursAgo(-2), quietReads: 8 }),
    known("recent", { readAt: hoursAgo(0.2) }),
    known("unfinished", { readAt: hoursAgo(1), readCursor: "page 2" }),
  ];
  expect(choose(listed, stored)).toEqual(["long-ago", "unfinished", "recent", "new"]);
  expect(choose(listed, stored, true)).toEqual(["new", "long-ago", "unfinished", "recent"]);
});

test("after a failed read of the comments on a piece of media, a changed number of comments does not make the next read earlier", () => {
  const waiting = known("failing", { failures: 1, readAt: hoursAgo(-1) });
  expect(choose([seen("failing", 4)], [waiting])).toEqual([]);
});
