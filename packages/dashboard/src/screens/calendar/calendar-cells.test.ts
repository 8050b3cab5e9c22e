import type { PostSummary } from "@postrider/client";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { loadTemporal } from "../../time/load-temporal.ts";
import { moveToDay, toInstantText, toZoned } from "../../time/place-in-zone.ts";
import { calendarCells, dayEntries, foldDay, takenTimes, timeOf } from "./calendar-cells.ts";
import { datesToRead, type DayRange, rangeOf, stepDay } from "./calendar-range.ts";

beforeAll(loadTemporal);

const date = (text: string) => Temporal.PlainDate.from(text);

function postOf(fields: Partial<PostSummary>): PostSummary {
  return {
    id: "p",
    status: "scheduled",
    content: "A post",
    scheduledAt: null,
    startedAt: null,
    publishedAt: null,
    createdVia: "dashboard",
    createdAt: "2026-11-24T05:05:00.000Z",
    updatedAt: "2026-11-24T05:05:00.000Z",
    mediaIds: [],
    targets: [],
    ...fields,
  };
}

const dueAt = (scheduledAt: string, id = scheduledAt) => postOf({ id, scheduledAt });

/** The days on which each post is shown. */
function daysOf(posts: readonly PostSummary[], zone: string, range: DayRange) {
  return calendarCells(posts, zone, range).flatMap(({ day, posts: placed }) =>
    placed.map(({ post }) => ({ id: post.id, day: day.toString() })),
  );
}

describe("200 random posts in five zones around changes of the clocks:", () => {
  const zones = fc.constantFrom(
    "Europe/Berlin",
    "America/New_York",
    "Asia/Seoul",
    "Australia/Lord_Howe",
    "America/Santiago",
  );
  const instants = fc
    .record({
      change: fc.constantFrom(
        "2026-09-06T04:00Z",
        "2026-10-03T15:30Z",
        "2026-10-25T01:00Z",
        "2026-11-01T06:00Z",
        "2027-03-14T07:00Z",
        "2027-03-28T01:00Z",
        "2027-04-04T03:00Z",
      ),
      minutes: fc.integer({ min: -4320, max: 4320 }),
    })
    .map(({ change, minutes }) => new Date(Date.parse(change) + minutes * 60_000).toISOString());

  test("each is shown once, on the local day of its time", () => {
    fc.assert(
      fc.property(instants, zones, (instant, zone) => {
        const local = toZoned(instant, zone).toPlainDate();
        for (const view of ["month", "week", "list"] as const)
          expect(daysOf([dueAt(instant, "p")], zone, rangeOf(view, local))).toEqual([
            { id: "p", day: local.toString() },
          ]);
      }),
      { numRuns: 200 },
    );
  });

  test("one that is dragged to another day is shown there, with the same clock unless it is in a gap", () => {
    fc.assert(
      fc.property(instants, zones, fc.integer({ min: -6, max: 6 }), (instant, zone, days) => {
        const before = toZoned(instant, zone);
        const target = before.toPlainDate().add({ days });
        const moved = moveToDay(instant, zone, target);
        const shown = daysOf([dueAt(toInstantText(moved.at), "p")], zone, rangeOf("week", target));
        expect(shown).toEqual([{ id: "p", day: target.toString() }]);
        const keepsClock = moved.at.toPlainTime().equals(before.toPlainTime());
        expect(keepsClock).toBe(moved.kind !== "gap");
      }),
      { numRuns: 200 },
    );
  });

  test("the dates that are asked for hold every post of the range", () => {
    fc.assert(
      fc.property(instants, zones, (instant, zone) => {
        const { from, to } = datesToRead(rangeOf("week", toZoned(instant, zone).toPlainDate()));
        const utc = instant.slice(0, 10);
        expect([from <= utc, utc <= to]).toEqual([true, true]);
      }),
      { numRuns: 200 },
    );
  });
});

test("posts of a day lie in the order of their times, those of other days are left out", () => {
  const posts = ["2026-11-24T15:00:00Z", "2026-11-24T14:59:59Z", "2026-11-23T15:00:00Z"].map((at) =>
    dueAt(at),
  );
  const [cell] = calendarCells(posts, "Asia/Seoul", { first: date("2026-11-24"), days: 1 });
  expect(cell?.posts.map(({ post }) => post.id)).toEqual([
    "2026-11-23T15:00:00Z",
    "2026-11-24T14:59:59Z",
  ]);
});

test("a post that was sent at once lies where it was made, and a draft without a time nowhere", () => {
  expect(timeOf(postOf({ status: "published" }))).toBe("2026-11-24T05:05:00.000Z");
  expect(timeOf(postOf({ status: "draft" }))).toBeNull();
  expect(timeOf(postOf({ status: "draft", scheduledAt: "2026-11-27T00:30:00Z" }))).toBe(
    "2026-11-27T00:30:00Z",
  );
});

test("a month begins on the Monday on or before its first day and has six weeks", () => {
  const { first, days } = rangeOf("month", date("2026-11-24"));
  expect([first.toString(), days]).toEqual(["2026-10-26", 42]);
});

test("the month after the last of January is February", () => {
  expect(stepDay("month", date("2027-01-31"), 1).toString()).toBe("2027-02-28");
});

describe("of a day with many posts", () => {
  const day = (...states: readonly PostSummary["status"][]) =>
    states.map((status, index) => ({ post: postOf({ id: String(index), status }), ms: index }));
  const ids = (posts: ReturnType<typeof day>) => foldDay(posts).shown.map(({ post }) => post.id);

  test("six are shown and the rest is counted", () => {
    expect(foldDay(day(...Array.from({ length: 6 }, () => "scheduled" as const))).hidden).toBe(0);
    const many = foldDay(day(...Array.from({ length: 33 }, () => "scheduled" as const)));
    expect([many.shown.length, many.hidden]).toEqual([6, 27]);
  });

  test("a failed, partly published or publishing one is never folded", () => {
    const states = Array.from({ length: 20 }, () => "published" as const);
    const posts = day(...states, "failed", "partial", "publishing");
    expect(ids(posts)).toEqual(["0", "1", "2", "20", "21", "22"]);
    const loud = day(...states, ...Array.from({ length: 8 }, () => "failed" as const));
    expect(foldDay(loud)).toMatchObject({ hidden: 20 });
  });
});

test("the free slots of a day stand between its posts, in the order of time", () => {
  const at = (text: string) => Date.parse(text);
  const posts = ["2026-12-03T09:00Z", "2026-12-03T11:00Z"].map((text) => ({
    post: dueAt(text),
    ms: at(text),
  }));
  const free = [at("2026-12-03T08:30Z"), at("2026-12-03T10:00Z")];
  expect(dayEntries(posts, free).map(({ ms, post }) => [ms, post?.id])).toEqual([
    [at("2026-12-03T08:30Z"), undefined],
    [at("2026-12-03T09:00Z"), "2026-12-03T09:00Z"],
    [at("2026-12-03T10:00Z"), undefined],
    [at("2026-12-03T11:00Z"), "2026-12-03T11:00Z"],
  ]);
});

test("a slot is taken by a post of any account, and not by one that was cancelled", () => {
  const at = "2026-12-03T09:00:00.000Z";
  const cancelled = postOf({ status: "cancelled", scheduledAt: "2026-12-03T10:00:00.000Z" });
  expect([...takenTimes([dueAt(at), cancelled, postOf({ status: "published" })])]).toEqual([
    Date.parse(at),
  ]);
});
