import { expect, test } from "vitest";
import { createTid } from "./tid.ts";

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
