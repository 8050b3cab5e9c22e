import { expect, test } from "vitest";
import { DueFloor } from "./due-floor.ts";

test("the scheduler looks for due posts from its floor, and every 30 seconds from the beginning", () => {
  const floor = new DueFloor();
  const at = new Date("2026-11-21T10:00:00Z");
  const looks = [0, 500, 29_999, 30_000, 30_500].map((nowMs) => {
    const from = floor.next(nowMs);
    floor.moveTo(at);
    return from;
  });

  expect(looks).toEqual([null, at, at, null, at]);
});
