import { expect, test } from "vitest";
import { concurrencyOf, paceOf, recordDuration, startLoad, type LaneLoad } from "./lane-pace.ts";

const FRESH = {
  blockedUntil: Number.NEGATIVE_INFINITY,
  unansweredInRow: 0,
  failingSince: null,
};

function after(count: number, attempt: Parameters<typeof recordDuration>[1]): LaneLoad {
  let load = startLoad("new");
  for (let done = 0; done < count; done += 1) load = recordDuration(load, attempt);
  return load;
}

test("a receiver gets 4 attempts at a time, and up to 32 while it answers and uses them up", () => {
  const full = { durationMs: 10, isAnswered: true, wasFull: true };
  expect(startLoad("new").limit).toBe(4);
  expect(after(3, full).limit).toBe(7);
  expect(after(100, full).limit).toBe(32);
  expect(after(100, { ...full, wasFull: false }).limit).toBe(4);
});

test("an attempt without a response halves the limit of a receiver, down to one", () => {
  const silent = { durationMs: 15_000, isAnswered: false, wasFull: true };
  expect(after(1, silent).limit).toBe(2);
  expect(after(5, silent).limit).toBe(1);
});

test("an open circuit allows one attempt at a time", () => {
  expect(concurrencyOf(startLoad("fast"), { ...FRESH, unansweredInRow: 9 })).toBe(4);
  expect(concurrencyOf(startLoad("fast"), { ...FRESH, unansweredInRow: 10 })).toBe(1);
});

test("the pace of a receiver follows the median of its last attempts", () => {
  const slow = after(1, { durationMs: 2_000, isAnswered: true, wasFull: false });
  expect(paceOf(slow, FRESH, undefined)).toBe("slow");
  let load = slow;
  for (let count = 0; count < 2; count += 1)
    load = recordDuration(load, { durationMs: 5, isAnswered: true, wasFull: false });
  expect(paceOf(load, FRESH, undefined)).toBe("fast");
});

test("a receiver whose attempt runs for over 1 s, or that did not answer, is slow at once", () => {
  const fast = after(9, { durationMs: 5, isAnswered: true, wasFull: false });
  expect(paceOf(fast, FRESH, 1_000)).toBe("fast");
  expect(paceOf(fast, FRESH, 1_001)).toBe("slow");
  expect(paceOf(fast, { ...FRESH, unansweredInRow: 1 }, undefined)).toBe("slow");
});

test("a receiver without an answer has the pace that the last holder of its lane saw", () => {
  expect(paceOf(startLoad("new"), FRESH, undefined)).toBe("new");
  expect(paceOf(startLoad("fast"), FRESH, undefined)).toBe("fast");
});
