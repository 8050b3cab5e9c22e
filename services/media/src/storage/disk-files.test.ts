import { expect, test } from "vitest";
import { nextWriteTime } from "#src/storage/disk-files.ts";

test("nextWriteTime returns the current time and never returns the same microsecond twice", () => {
  const times = Array.from({ length: 20_000 }, nextWriteTime);
  expect(new Set(times.map((time) => Math.round(time * 1_000_000))).size).toBe(20_000);
  expect(Math.abs((times[0] ?? 0) * 1000 - Date.now())).toBeLessThan(60_000);
});
