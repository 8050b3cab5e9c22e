import { expect, test } from "vitest";
import { createSendGuard } from "./send-guard.ts";

function clocksAt() {
  const now = { monotonic: 1_000, wall: 2_000 };
  return { now, clocks: { monotonic: () => now.monotonic, wall: () => now.wall } };
}

test("a call may leave for a twelfth of its time, at most 5 s", () => {
  const { now, clocks } = clocksAt();
  const short = createSendGuard(clocks, 6_000);
  const long = createSendGuard(clocks, 600_000);

  now.monotonic += 499;
  expect([short.mayStillSend(), long.mayStillSend()]).toEqual([true, true]);
  now.monotonic += 1;
  expect([short.mayStillSend(), long.mayStillSend()]).toEqual([false, true]);
  now.monotonic += 4_499;
  expect(long.mayStillSend()).toBe(true);
  now.monotonic += 1;
  expect(long.mayStillSend()).toBe(false);
});

test.each([60_000, -60_000])("a wall clock that moved by %i ms stops the call", (ms) => {
  const { now, clocks } = clocksAt();
  const guard = createSendGuard(clocks, 60_000);

  now.wall += ms;

  expect(guard.mayStillSend()).toBe(false);
});

test("the time that passed before the first byte is taken from the call's", () => {
  const { now, clocks } = clocksAt();
  const guard = createSendGuard(clocks, 60_000);

  now.monotonic += 4_000;

  expect(guard.timeoutMs).toBe(56_000);
});
