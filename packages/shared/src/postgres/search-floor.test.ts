import { expect, test } from "vitest";
import { SearchFloor } from "./search-floor.ts";

const AT = new Date("2026-11-21T10:00:00Z");

test("a repeated search for due rows starts at the floor (due time) that the previous search returned, and every 30 seconds at the beginning", () => {
  const floor = new SearchFloor();
  const starts = [0, 500, 29_999, 30_000, 30_500].map((nowMs) => {
    const from = floor.next(nowMs);
    floor.moveTo(AT);
    return from;
  });

  expect(starts).toEqual([null, AT, AT, null, AT]);
});

test("a repeated search for due rows starts at the beginning after its floor (due time to start from) was reset", () => {
  const floor = new SearchFloor();
  floor.next(0);
  floor.moveTo(AT);
  floor.reset();

  expect([floor.next(1), floor.next(2)]).toEqual([null, AT]);
});
