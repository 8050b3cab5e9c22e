import { beforeAll, expect, test } from "vitest";
import { loadTemporal } from "../../time/load-temporal.ts";
import { dropOn } from "./drop.ts";

beforeAll(loadTemporal);

function drop(scheduledAt: string, day: string, zone = "Europe/Berlin") {
  const now = Temporal.Instant.from("2026-11-24T05:05Z").toZonedDateTimeISO(zone);
  const { placement, fault } = dropOn(scheduledAt, Temporal.PlainDate.from(day), now);
  return [placement.kind, placement.at.toPlainDateTime().toString(), fault];
}

test("a post that is dropped on another day keeps its local clock across a change of the clocks", () => {
  expect(drop("2027-03-26T08:30:00Z", "2027-03-29")).toEqual([
    "exact",
    "2027-03-29T09:30:00",
    undefined,
  ]);
});

test("a clock that does not exist on the day is said to be the end of the gap", () => {
  expect(drop("2027-03-26T01:30:00Z", "2027-03-28")).toEqual([
    "gap",
    "2027-03-28T03:00:00",
    undefined,
  ]);
});

test("a clock that comes twice on the day is said to be the first", () => {
  expect(drop("2026-11-30T06:30:00Z", "2027-11-07", "America/New_York")).toEqual([
    "doubled",
    "2027-11-07T01:30:00",
    undefined,
  ]);
});

test("a day that is over, a time of today that is past, and one beyond 366 days are refused", () => {
  expect(drop("2026-11-30T05:00:00Z", "2026-11-23")[2]).toBe("past");
  expect(drop("2026-11-30T05:00:00Z", "2026-11-24")[2]).toBe("past");
  expect(drop("2026-11-30T05:10:00Z", "2026-11-24")[2]).toBeUndefined();
  expect(drop("2026-11-30T05:10:00Z", "2027-11-26")[2]).toBe("far");
});
