import { beforeAll, expect, test } from "vitest";
import { loadTemporal } from "../../time/load-temporal.ts";
import { changeOn, isSecond, labelsOf, lineOf, linesOf, stackDown } from "./week-lines.ts";

beforeAll(loadTemporal);

const on = (day: string, zone = "Europe/Berlin") => changeOn(Temporal.PlainDate.from(day), zone);

test.each([
  ["2027-03-28", "Europe/Berlin", "gap", 120, 180],
  ["2026-10-25", "Europe/Berlin", "doubled", 120, 180],
  ["2026-10-04", "Australia/Lord_Howe", "gap", 120, 150],
  ["2027-04-04", "Australia/Lord_Howe", "doubled", 90, 120],
  ["2026-09-06", "America/Santiago", "gap", 0, 60],
  ["2027-04-03", "America/Santiago", "doubled", 1380, 1440],
])("on %s the clocks of %s make a %s from minute %i to %i", (day, zone, kind, start, end) => {
  expect(on(day, zone)).toMatchObject({ kind, stretch: { start, end } });
});

test("a day before or after a clock change has none, and neither has any day of a zone whose clocks never change", () => {
  expect(on("2027-03-27")).toBeUndefined();
  expect(on("2027-03-29")).toBeUndefined();
  expect(on("2026-09-05", "America/Santiago")).toBeUndefined();
  expect(on("2027-03-28", "Asia/Seoul")).toBeUndefined();
});

test("an hour that comes twice is drawn twice, and what follows lies below both", () => {
  const change = on("2026-10-25");
  const lines = linesOf([undefined, change]);
  expect(lines.length).toBe(25 * 60);
  expect(lineOf(lines, { hour: 2, minute: 30 })).toBe(150);
  expect(lineOf(lines, { hour: 2, minute: 30 }, true)).toBe(210);
  expect(lineOf(lines, { hour: 3, minute: 0 })).toBe(240);
  expect(labelsOf(lines).map(({ clock, line }) => [clock, line])).toContainEqual(["02:00", 180]);
});

test("the second of two equal stretches begins with the change and lasts as long as the first", () => {
  const change = on("2026-10-25");
  const second = (instant: string) => isSecond(Date.parse(instant), change);
  expect(second("2026-10-25T00:30:00Z")).toBe(false);
  expect(second("2026-10-25T01:00:00Z")).toBe(true);
  expect(second("2026-10-25T01:59:00Z")).toBe(true);
  expect(second("2026-10-25T02:00:00Z")).toBe(false);
});

test("a week without a doubled hour has the lines of the clock, also where an hour is missing", () => {
  const lines = linesOf([on("2027-03-28")]);
  expect([lines.length, lineOf(lines, { hour: 3, minute: 0 })]).toEqual([1440, 180]);
});

test("chips at the same minute lie below each other, and none over another", () => {
  expect(stackDown([0, 0, 10, 100], 24)).toEqual([0, 24, 48, 100]);
});
