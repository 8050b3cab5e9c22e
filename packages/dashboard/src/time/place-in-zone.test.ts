import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { loadTemporal } from "./load-temporal.ts";
import {
  hoursOfDay,
  isSecondReading,
  moveToDay,
  parseDate,
  placeInZone,
  toInstantText,
  toZoned,
} from "./place-in-zone.ts";

beforeAll(loadTemporal);

/** Zones whose clocks change in March and at the end of autumn, by half an hour, or never. */
const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "Asia/Seoul",
  "Australia/Lord_Howe",
  "America/Santiago",
] as const;

const zones = fc.constantFrom(...ZONES);
/** Within five days of a change of the clocks of one of the zones, to the minute. */
const instants = fc
  .record({
    change: fc.constantFrom(
      "2026-10-03T16:00Z",
      "2026-10-25T01:00Z",
      "2026-11-01T06:00Z",
      "2027-03-14T07:00Z",
      "2027-03-28T01:00Z",
      "2027-04-03T15:00Z",
    ),
    minutes: fc.integer({ min: -7200, max: 7200 }),
  })
  .map(({ change, minutes }) => new Date(Date.parse(change) + minutes * 60_000).toISOString());

/** The clock before it is on the other side of the reading, so that no reading lies between. */
function isFirstAfterGap(at: Temporal.ZonedDateTime, reading: Temporal.PlainDateTime): boolean {
  const last = at.subtract({ nanoseconds: 1 }).toPlainDateTime();
  const order = [at.toPlainDateTime(), reading, last].sort((one, other) =>
    Temporal.PlainDateTime.compare(one, other),
  );
  return order[0] === last && order[1] === reading;
}

const runs = { numRuns: 200 } as const;

describe("200 random posts in five zones around changes of the clocks:", () => {
  test("a post that is shown in a zone and written again is due at the same instant", () => {
    fc.assert(
      fc.property(instants, zones, (instant, zone) => {
        expect(toInstantText(toZoned(instant, zone))).toBe(instant);
      }),
      runs,
    );
  });

  test("a post that is moved to another day keeps the reading of the local clock, or goes to the first instant after a gap", () => {
    fc.assert(
      fc.property(instants, zones, fc.integer({ min: -6, max: 6 }), (instant, zone, days) => {
        const before = toZoned(instant, zone);
        const day = before.toPlainDate().add({ days });
        const { kind, at } = moveToDay(instant, zone, day);
        const reading = day.toPlainDateTime(before.toPlainTime());
        return kind === "gap" ? isFirstAfterGap(at, reading) : at.toPlainDateTime().equals(reading);
      }),
      runs,
    );
  });

  test("a post that is moved there and back is due at its first instant again", () => {
    fc.assert(
      fc.property(instants, zones, fc.integer({ min: -6, max: 6 }), (instant, zone, days) => {
        const before = toZoned(instant, zone);
        const there = moveToDay(instant, zone, before.toPlainDate().add({ days }));
        fc.pre(there.kind !== "gap");
        const back = moveToDay(toInstantText(there.at), zone, before.toPlainDate());
        const places = back.kind === "doubled" ? [back.at, back.later] : [back.at];
        expect(places.map(toInstantText)).toContain(instant);
      }),
      runs,
    );
  });
});

const reading = (text: string) => Temporal.PlainDateTime.from(text);

test("a reading that does not exist becomes the first instant after the gap", () => {
  const placed = placeInZone(reading("2027-03-28T02:30"), "Europe/Berlin");
  expect(placed.kind).toBe("gap");
  expect(placed.at.toString()).toBe("2027-03-28T03:00:00+02:00[Europe/Berlin]");
});

test("a gap of half an hour ends half an hour later", () => {
  const placed = placeInZone(reading("2026-10-04T02:10"), "Australia/Lord_Howe");
  expect(placed.at.toPlainTime().toString()).toBe("02:30:00");
});

test("a day without a midnight begins after the gap", () => {
  const placed = placeInZone(reading("2026-09-06T00:00"), "America/Santiago");
  expect(placed.at.toString()).toBe("2026-09-06T01:00:00-03:00[America/Santiago]");
});

test("a reading that comes twice is the first of the two, and the other can be chosen", () => {
  const placed = placeInZone(reading("2026-10-25T02:30"), "Europe/Berlin");
  expect(placed).toMatchObject({ kind: "doubled" });
  expect(toInstantText(placed.at)).toBe("2026-10-25T00:30:00.000Z");
  expect(placed.kind === "doubled" && toInstantText(placed.later)).toBe("2026-10-25T01:30:00.000Z");
});

test.each([
  ["2026-10-25T00:30:00Z", false],
  ["2026-10-25T01:30:00Z", true],
  ["2026-10-25T02:30:00Z", false],
])("whether %s is the second of two readings in Berlin is known: %j", (instant, isSecond) => {
  expect(isSecondReading(toZoned(instant, "Europe/Berlin"))).toBe(isSecond);
});

test("days on which the clocks change have 23 or 25 hours", () => {
  const day = (text: string) => hoursOfDay(Temporal.PlainDate.from(text), "Europe/Berlin");
  expect([day("2027-03-28"), day("2026-10-25"), day("2026-11-24")]).toEqual([23, 25, 24]);
});

test.each(["", "2026-03", "20261-03-01", "202612-03-01"])(
  "what a date field holds while it is typed is not a date: %j",
  (text) => {
    expect(parseDate(text)).toBeUndefined();
  },
);

test("a date with a year of four digits is a date", () => {
  expect(parseDate("2026-03-01")?.toString()).toBe("2026-03-01");
});
