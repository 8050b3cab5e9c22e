import { expect, test } from "vitest";
import { nextAccountPauseMs, nextRepeatMs } from "./retry-policy.ts";

const POLICY = {
  retryMs: [60_000, 300_000, 900_000],
  leaseMs: 60_000,
  accountPauseMs: [60_000, 300_000],
};

test("the first repetition of a publishing call that is safe to repeat is sent without a wait, and each further repetition is sent after the configured retry wait", () => {
  expect([1, 2, 3, 4, 9].map((count) => nextRepeatMs(POLICY, count))).toEqual([
    0, 60_000, 300_000, 900_000, 900_000,
  ]);
});

test("an account is paused after five failures in a row, and for longer after each further failure", () => {
  expect([1, 4, 5, 6, 12].map((count) => nextAccountPauseMs(POLICY, count))).toEqual([
    undefined,
    undefined,
    60_000,
    300_000,
    300_000,
  ]);
});
