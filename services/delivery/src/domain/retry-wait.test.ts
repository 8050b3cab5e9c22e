import fc from "fast-check";
import { expect, test } from "vitest";
import { nextRetryMs } from "./retry-wait.ts";

const POLICY = { retryMs: [60_000, 300_000, 900_000] };

test("the waits before the retries of a task follow the configured list with 20 % jitter, and a task has as many retries as the list has waits", () => {
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
