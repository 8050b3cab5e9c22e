import type { Attempt } from "@postrider/client";
import { expect, test } from "vitest";
import { toRail } from "./rail.ts";

const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const attempt = (number: number, start: number, end: number) =>
  ({ number, startedAt: at(start), finishedAt: at(end) }) as Attempt;
const kinds = (...given: Parameters<typeof toRail>) =>
  toRail(...given).map((item) => (item.kind === "attempt" ? item.attempt.number : item.kind));

test("attempts stand in their order, with the waits between them and the next attempt", () => {
  const attempts = [attempt(2, 90, 100), attempt(1, 0, 30)];
  expect(kinds(attempts, at(160), false)).toEqual([1, "wait", 2, "wait", "next"]);
  expect(toRail(attempts, null, false)[1]).toMatchObject({
    kind: "wait",
    ms: 60_000,
    isOver: true,
  });
});

test("an attempt that follows at once has no wait before it", () => {
  expect(kinds([attempt(1, 0, 1), attempt(2, 1.5, 3)], null, false)).toEqual([1, 2]);
});

test("of more than six attempts the middle is folded, until it is asked for", () => {
  const attempts = Array.from({ length: 9 }, (_, n) => attempt(n + 1, n * 2, n * 2 + 1));
  expect(kinds(attempts, null, false)).toEqual([1, 2, 3, "fold", 7, 8, 9]);
  expect(toRail(attempts, null, false)[3]).toEqual({ kind: "fold", count: 3 });
  expect(kinds(attempts, null, true)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});
