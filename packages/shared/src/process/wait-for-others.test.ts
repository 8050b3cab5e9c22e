import { expect, test, vi } from "vitest";
import { waitForOthers } from "./wait-for-others.ts";

test("long work begins at once if the process does nothing else, and otherwise as soon as the rest has ended", async () => {
  expect(await waitForOthers(() => 0, 100)).toBe(0);
  const countOthers = vi
    .fn<() => number>()
    .mockReturnValue(0)
    .mockReturnValueOnce(2)
    .mockReturnValueOnce(1);
  expect(await waitForOthers(countOthers, 100)).toBe(4);
});

test("long work begins after the longest wait, however busy the process is", async () => {
  expect(await waitForOthers(() => 1, 10)).toBe(10);
});
