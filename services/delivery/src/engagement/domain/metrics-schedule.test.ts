import fc from "fast-check";
import { expect, test } from "vitest";
import {
  countAs,
  countRefreshes,
  METRICS_END_MS,
  planNextRefresh,
  type RefreshOutcome,
} from "./metrics-schedule.ts";

const HOUR_MS = 3_600_000;

/**
 * Returns the ages of a post in hours at which its metrics are refreshed, if each refresh is made
 * exactly when it is due.
 */
function listAges(): number[] {
  const ages: number[] = [];
  for (let ageMs: number | null = HOUR_MS; ageMs !== null;) {
    ages.push(ageMs / HOUR_MS);
    const state = { ageMs, failureCount: 0, missingCount: 0 };
    const { dueInMs } = planNextRefresh(state, "read");
    ageMs = dueInMs === null ? null : ageMs + dueInMs;
  }
  return ages;
}

test("the metrics of a post are refreshed every hour for 6 hours, then every 3 hours, after a day every 12 hours, and not at all after 7 days", () => {
  expect(listAges()).toEqual([
    1, 2, 3, 4, 5, 6, 9, 12, 15, 18, 21, 24, 36, 48, 60, 72, 84, 96, 108, 120, 132, 144, 156, 168,
  ]);
});

test("the metrics of a post that the platform reports as missing twice in a row are no longer refreshed", () => {
  const once = planNextRefresh({ ageMs: 0, failureCount: 0, missingCount: 0 }, "missing");
  expect(once).toEqual({ dueInMs: HOUR_MS, failureCount: 0, missingCount: 1 });
  const twice = planNextRefresh({ ageMs: HOUR_MS, ...once }, "missing");
  expect(twice).toEqual({ dueInMs: null, failureCount: 0, missingCount: 2 });
});

test("a failed refresh of metrics is repeated after 10 minutes, then with growing waits up to the usual interval", () => {
  const waits = [0, 1, 2, 3].map(
    (failureCount) =>
      planNextRefresh({ ageMs: 10 * HOUR_MS, failureCount, missingCount: 0 }, "failed").dueInMs,
  );
  expect(waits).toEqual([10, 20, 40, 80].map((minutes) => minutes * 60_000));
  const late = { ageMs: 0, failureCount: 20, missingCount: 0 };
  expect(planNextRefresh(late, "failed").dueInMs).toBe(HOUR_MS);
});

test("no refresh of metrics is scheduled for a post that is older than 7 days", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 * METRICS_END_MS }),
      fc.nat(30),
      fc.nat(3),
      fc.constantFrom("read", "missing", "failed", "refused"),
      (ageMs, failureCount, missingCount, end) => {
        const { dueInMs } = planNextRefresh({ ageMs, failureCount, missingCount }, end);
        if (dueInMs === null) return;
        expect(dueInMs).toBeGreaterThan(0);
        expect(ageMs + dueInMs).toBeLessThanOrEqual(METRICS_END_MS);
      },
    ),
  );
});

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
