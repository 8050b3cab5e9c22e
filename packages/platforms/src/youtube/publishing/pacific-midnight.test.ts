import { expect, test } from "vitest";
import { msUntilPacificMidnight } from "./failures.ts";

test.each([
  ["in winter", "2026-12-01T20:00:00.250Z", "2026-12-02T08:00:00.000Z"],
  ["in summer", "2026-07-01T06:59:59.999Z", "2026-07-01T07:00:00.000Z"],
  ["exactly at midnight", "2026-07-01T07:00:00.000Z", "2026-07-02T07:00:00.000Z"],
  ["on the day with 25 hours", "2026-11-01T07:30:00.000Z", "2026-11-02T08:00:00.000Z"],
  ["on the day with 23 hours", "2026-03-08T08:30:00.000Z", "2026-03-09T07:00:00.000Z"],
])("msUntilPacificMidnight finds the next midnight in California %s", (_name, now, midnight) => {
  const until = Date.parse(now) + msUntilPacificMidnight(new Date(now));
  expect(new Date(until).toISOString()).toBe(midnight);
});
