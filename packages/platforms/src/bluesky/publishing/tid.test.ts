import { expect, test } from "vitest";
import { createTid, timeOfTid } from "./put-post.ts";

test("a TID (Bluesky record key) has the form of a record key and sorts by time", () => {
  const first = createTid(new Date("2026-11-21T12:00:00.000Z"), 0.5);
  const second = createTid(new Date("2026-11-21T12:00:00.001Z"), 0);
  expect(first).toMatch(/^[234567abcdefghij][234567a-z]{12}$/);
  expect(first < second).toBe(true);
});

test("two TIDs (Bluesky record keys) that are created in the same millisecond differ", () => {
  const now = new Date("2026-11-21T12:00:00.000Z");
  expect(createTid(now, 0.1)).not.toBe(createTid(now, 0.2));
});

test("timeOfTid returns the time that a TID contains, and the current time for a record key that is not a TID", () => {
  const at = new Date("2026-11-21T12:00:00.123Z");
  expect(timeOfTid(createTid(at, 0.7))).toEqual(at);
  for (const key of ["self", "3lb0000000000", ""])
    expect(Math.abs(timeOfTid(key).getTime() - Date.now())).toBeLessThan(60_000);
});
