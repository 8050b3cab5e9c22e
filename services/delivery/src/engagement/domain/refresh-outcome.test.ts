import fc from "fast-check";
import { expect, test } from "vitest";
import { countAs, countRefreshes, type RefreshOutcome } from "./refresh-outcome.ts";

const metrics = {
  views: 1,
  impressions: null,
  reach: null,
  likes: null,
  comments: null,
  shares: null,
  saves: null,
};
const OUTCOMES: readonly RefreshOutcome[] = [
  { kind: "read", metrics },
  { kind: "missing" },
  { kind: "limited" },
  { kind: "no_answer" },
  { kind: "refused" },
  { kind: "unusable" },
  { kind: "unavailable" },
  { kind: "failed" },
];

test("RefreshMetrics returns a number of eligible targets that is the sum of its other counters, whatever the outcomes", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...OUTCOMES), fc.boolean()), { maxLength: 100 }),
      (outcomes) => {
        const { eligible, ...others } = countRefreshes(
          outcomes.map(([outcome, isStored]) => countAs(outcome, isStored)),
        );
        expect(eligible).toBe(outcomes.length);
        expect(Object.values(others).reduce((sum, each) => sum + each, 0)).toBe(eligible);
      },
    ),
  );
});

test.each([
  ["read", "ready"],
  ["missing", "notFound"],
  ["limited", "deferred"],
  ["no_answer", "deferred"],
  ["refused", "error"],
  ["unusable", "error"],
  ["unavailable", "failed"],
  ["failed", "failed"],
])(
  "a refresh of metrics that a user requested, with the outcome %s, is counted as %s",
  (kind, counter) => {
    const outcome = OUTCOMES.find((each) => each.kind === kind);
    expect(outcome && countAs(outcome, true)).toBe(counter);
  },
);
