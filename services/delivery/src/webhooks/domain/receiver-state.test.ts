import fc from "fast-check";
import { expect, test } from "vitest";
import type { AttemptOutcome } from "./attempt.ts";
import {
  afterAttempt,
  concurrencyOf,
  isBreakerOpen,
  paceOf,
  type ReceiverLoad,
  type ReceiverState,
  recordDuration,
  startLoad,
} from "./receiver-state.ts";

const FRESH: ReceiverState = {
  blockedUntil: Number.NEGATIVE_INFINITY,
  unansweredInRow: 0,
  failingSince: null,
};
const DAY = 86_400_000;
const unanswered: AttemptOutcome = { kind: "unanswered" };
const refused: AttemptOutcome = { kind: "refused", pauseMs: 0 };

function end(
  state: ReceiverState,
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
 * Returns the state of a subscription after attempts in a row that got no response, which started
 * and ended at once.
 */
function afterSilences(count: number, now: number): ReceiverState {
  let state = FRESH;
  for (let done = 0; done < count; done += 1) state = end(state, unanswered, { now }).state;
  return state;
}

test("a successful attempt ends the webhook delivery and resets the counted failures of its subscription", () => {
  const state = { blockedUntil: 5, unansweredInRow: 3, failingSince: 1 };
  expect(end(state, { kind: "succeeded" }, { now: 10 })).toEqual({
    delivery: { kind: "succeeded" },
    state: { blockedUntil: 5, unansweredInRow: 0, failingSince: null },
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
    state: { blockedUntil: 30_100 },
  });
  expect(pause(30_000, 2)).toMatchObject({
    delivery: { kind: "retry", delayMs: 60_000 },
    state: { blockedUntil: 30_100 },
  });
});

test("a shorter Retry-After does not shorten an earlier pause of a webhook subscription", () => {
  const paused = { ...FRESH, blockedUntil: 50_000 };
  const { state } = end(paused, { kind: "refused", pauseMs: 1_000 }, { now: 0 });
  expect(state.blockedUntil).toBe(50_000);
});

test("the response 410 ends the webhook delivery and disables its subscription", () => {
  expect(end(FRESH, { kind: "gone" }, { now: 0 })).toMatchObject({
    delivery: { kind: "failed" },
    disable: "gone",
  });
});

test("a webhook subscription gets one probe at a time after the tenth attempt in a row without a response, not after the ninth", () => {
  expect(isBreakerOpen(afterSilences(9, 0))).toBe(false);
  expect(afterSilences(9, 0).blockedUntil).toBe(Number.NEGATIVE_INFINITY);
  expect(isBreakerOpen(afterSilences(10, 0))).toBe(true);
  expect(afterSilences(10, 0).blockedUntil).toBe(5_000);
});

test("an HTTP response never opens the breaker of a webhook subscription, and one response closes an open breaker", () => {
  let refusing = FRESH;
  for (let count = 0; count < 100; count += 1) refusing = end(refusing, refused, { now: 0 }).state;
  expect(isBreakerOpen(refusing)).toBe(false);
  const { state } = end(afterSilences(10, 0), refused, { now: 5_000 });
  expect(state).toEqual({ ...FRESH, failingSince: 0 });
});

test("the waits between probes of a silent webhook receiver grow from 5 s to 5 minutes", () => {
  let state = afterSilences(10, 0);
  const waits: number[] = [];
  for (let probe = 0; probe < 8; probe += 1) {
    const now = state.blockedUntil;
    state = end(state, unanswered, { now }).state;
    waits.push((state.blockedUntil - now) / 1000);
  }
  expect(waits).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
});

test("attempts that started before the first probe of a silent webhook receiver do not make the wait before this probe longer", () => {
  const open = afterSilences(10, 1_000);
  const late = end(open, unanswered, { now: 9_000, startedAt: 500 });
  expect(late.state).toEqual(open);
});

test("5 days of nothing but failures disable a webhook subscription", () => {
  const first = end(FRESH, refused, { now: 1_000 }).state;
  expect(first.failingSince).toBe(1_000);
  expect(end(first, refused, { now: 1_000 + 5 * DAY - 1 }).disable).toBeUndefined();
  expect(end(first, refused, { now: 1_000 + 5 * DAY }).disable).toBe("failing");
  const { state } = end(first, { kind: "succeeded" }, { now: 2_000 });
  expect(end(state, refused, { now: 1_000 + 6 * DAY }).disable).toBeUndefined();
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
        state = decision.state;
        expect(state.blockedUntil).toBeLessThanOrEqual(now + DAY);
        expect(state.unansweredInRow).toBeGreaterThanOrEqual(0);
        expect(state.failingSince === null).toBe(outcome.kind === "succeeded");
      }
    }),
  );
});

const FRESH_RECEIVER = {
  blockedUntil: Number.NEGATIVE_INFINITY,
  unansweredInRow: 0,
  failingSince: null,
};

function after(count: number, attempt: Parameters<typeof recordDuration>[1]): ReceiverLoad {
  let load = startLoad("new", FRESH_RECEIVER);
  for (let done = 0; done < count; done += 1) load = recordDuration(load, attempt);
  return load;
}

test("a webhook receiver gets 4 attempts at a time, and up to 32 while it answers and uses all of them", () => {
  const full = { durationMs: 10, isAnswered: true, isSuccess: true, wasFull: true };
  expect(startLoad("new", FRESH_RECEIVER).limit).toBe(4);
  expect(after(3, full).limit).toBe(7);
  expect(after(100, full).limit).toBe(32);
  expect(after(100, { ...full, wasFull: false }).limit).toBe(4);
});

test("an attempt without a response halves the number of attempts that a webhook receiver gets at a time, down to one", () => {
  const silent = { durationMs: 15_000, isAnswered: false, isSuccess: false, wasFull: true };
  expect(after(1, silent).limit).toBe(2);
  expect(after(5, silent).limit).toBe(1);
});

test("a webhook receiver that did not answer 10 attempts in a row gets one attempt at a time", () => {
  expect(
    concurrencyOf(startLoad("fast", FRESH_RECEIVER), { ...FRESH_RECEIVER, unansweredInRow: 9 }),
  ).toBe(4);
  expect(
    concurrencyOf(startLoad("fast", FRESH_RECEIVER), { ...FRESH_RECEIVER, unansweredInRow: 10 }),
  ).toBe(1);
});

test("a webhook receiver that fails most of its last nine attempts is slow and gets one attempt at a time, until most succeed", () => {
  const success = { durationMs: 5, isAnswered: true, isSuccess: true, wasFull: false };
  const failure = { ...success, isSuccess: false };
  const four = after(4, failure);
  expect([concurrencyOf(four, FRESH_RECEIVER), paceOf(four, FRESH_RECEIVER, undefined)]).toEqual([
    4,
    "fast",
  ]);
  let load = recordDuration(recordDuration(four, success), failure);
  expect([concurrencyOf(load, FRESH_RECEIVER), paceOf(load, FRESH_RECEIVER, undefined)]).toEqual([
    1,
    "slow",
  ]);
  for (let count = 0; count < 4; count += 1) load = recordDuration(load, success);
  expect([concurrencyOf(load, FRESH_RECEIVER), paceOf(load, FRESH_RECEIVER, undefined)]).toEqual([
    4,
    "fast",
  ]);
});

test("a webhook receiver whose attempts failed when another process held its lease gets one attempt at a time", () => {
  expect(concurrencyOf(startLoad("fast", { failingSince: 0 }), FRESH_RECEIVER)).toBe(1);
});

test("the median duration of its last attempts decides whether a webhook receiver is slow or fast", () => {
  const slow = after(1, { durationMs: 2_000, isAnswered: true, isSuccess: true, wasFull: false });
  expect(paceOf(slow, FRESH_RECEIVER, undefined)).toBe("slow");
  let load = slow;
  for (let count = 0; count < 2; count += 1)
    load = recordDuration(load, {
      durationMs: 5,
      isAnswered: true,
      isSuccess: true,
      wasFull: false,
    });
  expect(paceOf(load, FRESH_RECEIVER, undefined)).toBe("fast");
});

test("a webhook receiver is slow as soon as an attempt runs for over 1 s or ends without an answer", () => {
  const fast = after(9, { durationMs: 5, isAnswered: true, isSuccess: true, wasFull: false });
  expect(paceOf(fast, FRESH_RECEIVER, 1_000)).toBe("fast");
  expect(paceOf(fast, FRESH_RECEIVER, 1_001)).toBe("slow");
  expect(paceOf(fast, { ...FRESH_RECEIVER, unansweredInRow: 1 }, undefined)).toBe("slow");
});

test("a webhook receiver that has not answered this process yet counts as fast or slow as the previous process saw it", () => {
  expect(paceOf(startLoad("new", FRESH_RECEIVER), FRESH_RECEIVER, undefined)).toBe("new");
  expect(paceOf(startLoad("fast", FRESH_RECEIVER), FRESH_RECEIVER, undefined)).toBe("fast");
});
