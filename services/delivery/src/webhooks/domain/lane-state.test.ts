import fc from "fast-check";
import { expect, test } from "vitest";
import type { AttemptOutcome } from "./attempt.ts";
import { afterAttempt, isCircuitOpen, type LaneState } from "./lane-state.ts";

const FRESH: LaneState = {
  blockedUntil: Number.NEGATIVE_INFINITY,
  unansweredInRow: 0,
  failingSince: null,
};
const DAY = 86_400_000;
const unanswered: AttemptOutcome = { kind: "unanswered" };
const refused: AttemptOutcome = { kind: "refused", pauseMs: 0 };

function end(
  state: LaneState,
  outcome: AttemptOutcome,
  {
    now,
    startedAt = now,
    attemptCount = 1,
  }: { now: number; startedAt?: number; attemptCount?: number },
) {
  return afterAttempt(state, { outcome, startedAt, attemptCount }, now, () => 0.5);
}

/**
 * Returns the state of a webhook subscription after attempts in a row that got no response, which started and ended at
 * once.
 */
function afterSilences(count: number, now: number): LaneState {
  let state = FRESH;
  for (let done = 0; done < count; done += 1) state = end(state, unanswered, { now }).lane;
  return state;
}

test("a successful attempt ends the webhook delivery and resets the counted failures of its subscription", () => {
  const state = { blockedUntil: 5, unansweredInRow: 3, failingSince: 1 };
  expect(end(state, { kind: "succeeded" }, { now: 10 })).toEqual({
    delivery: { kind: "succeeded" },
    lane: { blockedUntil: 5, unansweredInRow: 0, failingSince: null },
  });
});

test("a webhook delivery fails for good after its eleventh attempt", () => {
  expect(end(FRESH, refused, { now: 0, attemptCount: 10 }).delivery.kind).toBe("retry");
  expect(end(FRESH, refused, { now: 0, attemptCount: 11 }).delivery.kind).toBe("failed");
});

test("the later of the retry schedule and Retry-After decides when a webhook delivery is sent again", () => {
  const pause = (pauseMs: number, attemptCount: number) =>
    end(FRESH, { kind: "refused", pauseMs }, { now: 100, attemptCount });
  expect(pause(30_000, 1)).toMatchObject({
    delivery: { kind: "retry", delayMs: 30_000 },
    lane: { blockedUntil: 30_100 },
  });
  expect(pause(30_000, 2)).toMatchObject({
    delivery: { kind: "retry", delayMs: 60_000 },
    lane: { blockedUntil: 30_100 },
  });
});

test("a shorter Retry-After does not shorten an earlier pause of a webhook subscription", () => {
  const paused = { ...FRESH, blockedUntil: 50_000 };
  const { lane } = end(paused, { kind: "refused", pauseMs: 1_000 }, { now: 0 });
  expect(lane.blockedUntil).toBe(50_000);
});

test("the response 410 ends the webhook delivery and disables its subscription", () => {
  expect(end(FRESH, { kind: "gone" }, { now: 0 })).toMatchObject({
    delivery: { kind: "failed" },
    disable: "gone",
  });
});

test("a webhook subscription gets one probe at a time after the tenth attempt in a row without a response, not after the ninth", () => {
  expect(isCircuitOpen(afterSilences(9, 0))).toBe(false);
  expect(afterSilences(9, 0).blockedUntil).toBe(Number.NEGATIVE_INFINITY);
  expect(isCircuitOpen(afterSilences(10, 0))).toBe(true);
  expect(afterSilences(10, 0).blockedUntil).toBe(5_000);
});

test("an HTTP response never opens the circuit of a webhook subscription, and one response closes an open circuit", () => {
  let state = FRESH;
  for (let count = 0; count < 100; count += 1) state = end(state, refused, { now: 0 }).lane;
  expect(isCircuitOpen(state)).toBe(false);
  const { lane } = end(afterSilences(10, 0), refused, { now: 5_000 });
  expect(lane).toEqual({ ...FRESH, failingSince: 0 });
});

test("the waits between probes of a silent webhook receiver grow from 5 s to 5 minutes", () => {
  let state = afterSilences(10, 0);
  const waits: number[] = [];
  for (let probe = 0; probe < 8; probe += 1) {
    const now = state.blockedUntil;
    state = end(state, unanswered, { now }).lane;
    waits.push((state.blockedUntil - now) / 1000);
  }
  expect(waits).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
});

test("attempts that started before the first probe of a silent webhook receiver do not make the wait before this probe longer", () => {
  const open = afterSilences(10, 1_000);
  const late = end(open, unanswered, { now: 9_000, startedAt: 500 });
  expect(late.lane).toEqual(open);
});

test("5 days of nothing but failures disable a webhook subscription", () => {
  const first = end(FRESH, refused, { now: 1_000 }).lane;
  expect(first.failingSince).toBe(1_000);
  expect(end(first, refused, { now: 1_000 + 5 * DAY - 1 }).disable).toBeUndefined();
  expect(end(first, refused, { now: 1_000 + 5 * DAY }).disable).toBe("failing");
  const { lane } = end(first, { kind: "succeeded" }, { now: 2_000 });
  expect(end(lane, refused, { now: 1_000 + 6 * DAY }).disable).toBeUndefined();
});

test("no order of attempt outcomes blocks a webhook subscription for longer than 24 h, or makes its count of failures negative", () => {
  const outcomes = fc.oneof(
    fc.constant<AttemptOutcome>({ kind: "succeeded" }),
    fc.constant(unanswered),
    fc.record({ kind: fc.constant("refused" as const), pauseMs: fc.nat({ max: DAY }) }),
  );
  const steps = fc.array(
    fc.tuple(outcomes, fc.nat({ max: 60_000 }), fc.integer({ min: 1, max: 12 })),
  );
  fc.assert(
    fc.property(steps, fc.double({ min: 0, max: 0.999, noNaN: true }), (attempts, random) => {
      let state = FRESH;
      let now = 0;
      for (const [outcome, passedMs, attemptCount] of attempts) {
        now += passedMs;
        const decision = afterAttempt(
          state,
          { outcome, startedAt: now, attemptCount },
          now,
          () => random,
        );
        state = decision.lane;
        expect(state.blockedUntil).toBeLessThanOrEqual(now + DAY);
        expect(state.unansweredInRow).toBeGreaterThanOrEqual(0);
        expect(state.failingSince === null).toBe(outcome.kind === "succeeded");
      }
    }),
  );
});
