import { expect, test } from "vitest";
import { DueFloor } from "./due-floor.ts";

test("the scheduler searches for due posts only from the time before which its last search found none, and every 30 seconds without this limit", () => {
  const floor = new DueFloor();
  const at = new Date("2026-11-21T10:00:00Z");
  const looks = [0, 500, 29_999, 30_000, 30_500].map((nowMs) => {
    const from = floor.next(nowMs);
    floor.moveTo(at);
    return from;
  });

  expect(looks).toEqual([null, at, at, null, at]);
});
