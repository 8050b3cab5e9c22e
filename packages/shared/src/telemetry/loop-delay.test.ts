import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { eventually } from "#src/testing/poll.ts";
import { watchLoopDelay } from "./metrics.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("the delay of the event loop is sampled while the process works, and not while it is idle", async () => {
  let share = 0;
  const delay = watchLoopDelay(() => share);

  share = 0.5;
  vi.advanceTimersByTime(1_000);
  await eventually(() => delay.count > 2);

  share = 0.001;
  vi.advanceTimersByTime(1_000);
  delay.reset();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(delay.count).toBe(0);
});
