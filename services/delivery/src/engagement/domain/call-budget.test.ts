import fc from "fast-check";
import { expect, test } from "vitest";
import { toBucket, type Bucket } from "./call-budget.ts";

/**
 * Simulates calls. Each call is made after a pause of `pauseMs`, or later, as soon as the budget
 * allows it. Returns for each used unit the instant of its call. `share` is the part of
 * `unitsPerCall` that a call uses.
 */
function useUnits(
  { intervalMs, burst, unitsPerCall }: Bucket,
  calls: readonly { readonly pauseMs: number; readonly share: number }[],
): readonly number[] {
  let usedUntil = Number.NEGATIVE_INFINITY;
  let at = 0;
  return calls.flatMap(({ pauseMs, share }) => {
    at = Math.max(at + pauseMs, usedUntil - (burst - unitsPerCall) * intervalMs);
    const units = Math.max(1, Math.round(share * unitsPerCall));
    usedUntil = Math.max(usedUntil, at) + units * intervalMs;
    return Array.from({ length: units }, () => at);
  });
}

const CALLS = fc.array(
  fc.record({
    pauseMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000 })),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  { maxLength: 100 },
);

test("within any period as long as a call budget's time window, the calls, or for some platforms the requested posts, never exceed the budget", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 10, max: 40 }),
      fc.integer({ min: 1, max: 10 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 10_000 }),
      CALLS,
      (calls, maxPosts, isPerPost, windowMs, made) => {
        const budget = { scope: "app", calls, windowMs, isPerPost } as const;
        const used = useUnits(toBucket({ budget, maxPosts }), made);
        for (const from of used) {
          const inWindow = used.filter((at) => at >= from && at < from + windowMs - 1e-6);
          expect(inWindow.length).toBeLessThanOrEqual(calls);
        }
      },
    ),
  );
});

test("a call budget of one call per time window allows one call per window", () => {
  const budget = { scope: "account", calls: 1, windowMs: 1_000 } as const;
  expect(toBucket({ budget, maxPosts: 50 })).toMatchObject({ burst: 1, intervalMs: 1_000 });
});
