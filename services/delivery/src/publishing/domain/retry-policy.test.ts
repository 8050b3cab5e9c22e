import { expect, test } from "vitest";
import { nextAccountPauseMs } from "./retry-policy.ts";

const POLICY = {
  retryMs: [60_000, 300_000, 900_000],
  leaseMs: 60_000,
  accountPauseMs: [60_000, 300_000],
};

test("an account is paused after five failures in a row, and for longer after each further failure", () => {
  expect([1, 4, 5, 6, 12].map((count) => nextAccountPauseMs(POLICY, count))).toEqual([
    undefined,
    undefined,
    60_000,
    300_000,
    300_000,
  ]);
});
