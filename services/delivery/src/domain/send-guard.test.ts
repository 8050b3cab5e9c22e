import { expect, test } from "vitest";
import { createSendGuard } from "./send-guard.ts";

function clocksAt() {
  const now = { monotonic: 1_000, wall: 2_000 };
  return { now, clocks: { monotonic: () => now.monotonic, wall: () => now.wall } };
}

test("a publishing call may be sent until a twelfth of its maximum duration, but at most 5 s, has passed since its worker asked to record the start", () => {
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

test.each([60_000, -60_000])(
  "a publishing call is not sent when the wall clock jumps by %i ms before the call",
  (ms) => {
    const { now, clocks } = clocksAt();
    const guard = createSendGuard(clocks, 60_000);

    now.wall += ms;

    expect(guard.mayStillSend()).toBe(false);
  },
);

test("the deadline of a publishing call is shortened by the time that passes before its first byte", () => {
  const { now, clocks } = clocksAt();
  const guard = createSendGuard(clocks, 60_000);

  now.monotonic += 4_000;

  expect(guard.timeoutMs).toBe(56_000);
});
