import { expect, test } from "vitest";
import { concurrencyOf, paceOf, recordDuration, startLoad, type LaneLoad } from "./lane-pace.ts";

const FRESH = {
  blockedUntil: Number.NEGATIVE_INFINITY,
  unansweredInRow: 0,
  failingSince: null,
};

function after(count: number, attempt: Parameters<typeof recordDuration>[1]): LaneLoad {
  let load = startLoad("new", FRESH);
  for (let done = 0; done < count; done += 1) load = recordDuration(load, attempt);
  return load;
}

test("a webhook receiver gets 4 attempts at a time, and up to 32 while it answers and uses all of them", () => {
  const full = { durationMs: 10, isAnswered: true, isSuccess: true, wasFull: true };
  expect(startLoad("new", FRESH).limit).toBe(4);
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
  expect(concurrencyOf(startLoad("fast", FRESH), { ...FRESH, unansweredInRow: 9 })).toBe(4);
  expect(concurrencyOf(startLoad("fast", FRESH), { ...FRESH, unansweredInRow: 10 })).toBe(1);
});

test("a webhook receiver that fails most of its last nine attempts is slow and gets one attempt at a time, until most succeed", () => {
  const success = { durationMs: 5, isAnswered: true, isSuccess: true, wasFull: false };
  const failure = { ...success, isSuccess: false };
  const four = after(4, failure);
  expect([concurrencyOf(four, FRESH), paceOf(four, FRESH, undefined)]).toEqual([4, "fast"]);
  let load = recordDuration(recordDuration(four, success), failure);
  expect([concurrencyOf(load, FRESH), paceOf(load, FRESH, undefined)]).toEqual([1, "slow"]);
  for (let count = 0; count < 4; count += 1) load = recordDuration(load, success);
  expect([concurrencyOf(load, FRESH), paceOf(load, FRESH, undefined)]).toEqual([4, "fast"]);
});

test("a webhook receiver whose attempts failed when another process held its lease gets one attempt at a time", () => {
  expect(concurrencyOf(startLoad("fast", { failingSince: 0 }), FRESH)).toBe(1);
});

test("the median duration of its last attempts decides whether a webhook receiver is slow or fast", () => {
  const slow = after(1, { durationMs: 2_000, isAnswered: true, isSuccess: true, wasFull: false });
  expect(paceOf(slow, FRESH, undefined)).toBe("slow");
  let load = slow;
  for (let count = 0; count < 2; count += 1)
    load = recordDuration(load, {
      durationMs: 5,
      isAnswered: true,
      isSuccess: true,
      wasFull: false,
    });
  expect(paceOf(load, FRESH, undefined)).toBe("fast");
});

test("a webhook receiver is slow as soon as an attempt runs for over 1 s or ends without an answer", () => {
  const fast = after(9, { durationMs: 5, isAnswered: true, isSuccess: true, wasFull: false });
  expect(paceOf(fast, FRESH, 1_000)).toBe("fast");
  expect(paceOf(fast, FRESH, 1_001)).toBe("slow");
  expect(paceOf(fast, { ...FRESH, unansweredInRow: 1 }, undefined)).toBe("slow");
});

test("a webhook receiver that has not answered this process yet counts as fast or slow as the previous process saw it", () => {
  expect(paceOf(startLoad("new", FRESH), FRESH, undefined)).toBe("new");
  expect(paceOf(startLoad("fast", FRESH), FRESH, undefined)).toBe("fast");
});
