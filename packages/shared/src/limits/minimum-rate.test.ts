import fc from "fast-check";
import { expect, test } from "vitest";
import { longestTransferMs, RateBudget } from "./minimum-rate.ts";

const RATE = { bytesPerSecond: 1_000, stallMs: 10_000 };

/**
 * Simulates a transfer with the same number of bytes in each second, after `first` bytes at once.
 * Returns the number of seconds after which the transfer is too slow.
 */
function secondsUntilTooSlow(bytesPerSecond: number, first = 0): number | undefined {
  const budget = new RateBudget(RATE);
  budget.spend({ bytes: first, elapsedMs: 0 });
  for (let second = 1; second <= 1_000; second += 1)
    if (budget.spend({ bytes: bytesPerSecond, elapsedMs: 1_000 })) return second;
  return undefined;
}

test.each([
  [0, 10],
  [1, 11],
  [500, 20],
  [1_000, undefined],
  [50_000, undefined],
])(
  "with a minimum rate of 1,000 bytes per second, a transfer of %i bytes per second is ended after %j seconds (undefined: never)",
  (bytes, seconds) => {
    expect(secondsUntilTooSlow(bytes)).toBe(seconds);
  },
);

test("a transfer that sent much at first may pause for no longer than a transfer that began slowly", () => {
  expect(secondsUntilTooSlow(0, 1_000_000_000)).toBe(10);
});

test("a transfer whose pauses are shorter than the maximum goes on when its average rate is high enough", () => {
  const budget = new RateBudget(RATE);
  for (let round = 0; round < 100; round += 1) {
    expect(budget.spend({ bytes: 0, elapsedMs: 9_000 })).toBe(false);
    expect(budget.spend({ bytes: 9_000, elapsedMs: 0 })).toBe(false);
  }
});

test("a transfer is never allowed to take longer than longestTransferMs says", () => {
  const periods = fc.array(fc.record({ bytes: fc.nat(20_000), elapsedMs: fc.nat(8_000) }), {
    maxLength: 100,
  });
  fc.assert(
    fc.property(periods, (all) => {
      const budget = new RateBudget(RATE);
      let [bytes, ms] = [0, 0];
      for (const period of all) {
        if (budget.spend(period)) return;
        bytes += period.bytes;
        ms += period.elapsedMs;
        expect(ms).toBeLessThanOrEqual(longestTransferMs(bytes, RATE));
      }
    }),
  );
});
