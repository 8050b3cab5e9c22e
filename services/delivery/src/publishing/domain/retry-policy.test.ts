import fc from "fast-check";
import { expect, test } from "vitest";
import { nextAccountPauseMs, nextRepeatMs, nextRetryMs } from "./retry-policy.ts";

const POLICY = {
  retryMs: [60_000, 300_000, 900_000],
  leaseMs: 60_000,
  accountPauseMs: [60_000, 300_000],
};

test("the waits before retries of a task follow the configured list with 20 % jitter, and no retry follows the last wait", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (n, r) => {
        const base = POLICY.retryMs[n] ?? 0;
        const wait = nextRetryMs(POLICY, n, r) ?? 0;
        expect(wait).toBeGreaterThanOrEqual(base * 0.8);
        expect(wait).toBeLessThanOrEqual(base * 1.2);
      },
    ),
  );
  expect(nextRetryMs(POLICY, 3, 0.5)).toBeUndefined();
});

test("the first repetition of a publishing call that is safe to repeat is sent without a wait, and later ones follow the retry waits", () => {
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
