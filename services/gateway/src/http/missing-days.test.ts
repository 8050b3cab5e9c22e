import { expect, test } from "vitest";
import { describeMissingDay } from "#src/http/missing-days.ts";

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
