import { expect, test } from "vitest";
import { describeMissingDay, writeTime } from "#src/http/write-time.ts";

test.each([
  ["2026-12-24T18:00+01:00", "2026-12-24T18:00:00+01:00"],
  ["2026-12-24T18:00Z", "2026-12-24T18:00:00Z"],
  ["2026-12-24 18:00:00+01:00", "2026-12-24T18:00:00+01:00"],
  ["2026-12-24T18:00:00+01", "2026-12-24T18:00:00+01:00"],
  ["2026-12-24T18:00:00 +0530", "2026-12-24T18:00:00+05:30"],
  ["2026-12-24T18:00:00,5Z", "2026-12-24T18:00:00.5Z"],
  ["2026-12-24T18:00:00+01:00[Europe/Berlin]", "2026-12-24T18:00:00+01:00"],
  [" 2026-12-24T18:00:00Z", "2026-12-24T18:00:00Z"],
  ["Thu, 24 Dec 2026 18:00:00 GMT", "2026-12-24T18:00:00Z"],
  ["Sun, 29 Feb 2032 18:00:00 GMT", "2032-02-29T18:00:00Z"],
  [1_798_135_200, "2026-12-24T18:00:00Z"],
  ["1798135200500", "2026-12-24T18:00:00.500Z"],
])("the time %j of a program is written as %s", (value, written) => {
  expect(writeTime(value)).toBe(written);
});

test.each([
  "2026-12-24T18:00:00",
  "2026-12-24",
  "24.12.2026 18:00",
  "2026-02-30T18:00Z",
  "Thu, 31 Feb 2026 18:00:00 GMT",
  "2026-12-24T18:00:00+25:00",
  "tomorrow",
  "",
  5,
  null,
  "1".repeat(100_000),
])("no certain moment is read from %j", (value) => {
  expect(writeTime(value)).toBeUndefined();
});

test.each([
  ["2026-02-30T09:00:00Z", "February 2026 has 28 days"],
  ["2028-02-30", "February 2028 has 29 days"],
  ["2026-04-31", "April 2026 has 30 days"],
  ["2028-02-29", undefined],
  ["2026-13-01", undefined],
  ["0000-02-31", undefined],
  ["2026-2-30", undefined],
  ["tomorrow", undefined],
])("describeMissingDay describes the days of the month of %s as %s", (text, expected) => {
  expect(describeMissingDay(text)).toBe(expected);
});
