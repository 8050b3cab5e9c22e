import fc from "fast-check";
import { expect, test } from "vitest";
import { toBucket } from "./call-budget.ts";

/** Returns the instants of calls that are made as soon as the bucket allows, each after an optional pause. */
function makeCalls(
  { intervalMs, burst }: ReturnType<typeof toBucket>,
  pauses: readonly number[],
): readonly number[] {
  let usedUntil = Number.NEGATIVE_INFINITY;
  let at = 0;
  return pauses.map((pauseMs) => {
    at = Math.max(at + pauseMs, usedUntil - (burst - 1) * intervalMs);
    usedUntil = Math.max(usedUntil, at) + intervalMs;
    return at;
  });
}

test("no window has more calls than the budget of a platform allows", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 10_000 }),
      fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000 })), { maxLength: 200 }),
      (calls, windowMs, pauses) => {
        const made = makeCalls(toBucket({ scope: "app", calls, windowMs }), pauses);
        for (const from of made) {
          const inWindow = made.filter((at) => at >= from && at < from + windowMs - 1e-6);
          expect(inWindow.length).toBeLessThanOrEqual(calls);
        }
      },
    ),
  );
});
