import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PoolWait } from "./pool-wait.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/**
 * Creates a `PoolWait` whose probes (statements that measure the wait for a connection) wait until
 * the test answers them.
 */
function createPool() {
  const answers: (() => void)[] = [];
  const wait = new PoolWait(
    () => new Promise<void>((resolve) => void answers.push(() => resolve())),
  );
  return { wait, answers };
}

test("the database connection pool is busy while a probe statement has been waiting for half a second, and stuck after two", async () => {
  const { wait, answers } = createPool();
  expect(wait.state()).toBe("free");
  await vi.advanceTimersByTimeAsync(499);
  expect(wait.state()).toBe("free");
  await vi.advanceTimersByTimeAsync(1);
  expect(wait.state()).toBe("busy");
  await vi.advanceTimersByTimeAsync(1_500);
  expect(wait.state()).toBe("stuck");

  answers[0]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(wait.state()).toBe("free");
});

test("a probe statement that failed no longer counts as waiting for a database connection", async () => {
  const wait = new PoolWait(() => Promise.reject(new Error("no connection")));
  wait.state();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(wait.state()).toBe("free");
});

test("at most ten probe statements a second measure the wait for a database connection, and none while no request asks for it", async () => {
  let count = 0;
  const wait = new PoolWait(() => {
    count += 1;
    return Promise.resolve();
  });
  for (let ms = 0; ms < 1_000; ms += 5) {
    wait.state();
    await vi.advanceTimersByTimeAsync(5);
  }
  expect(count).toBe(10);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(count).toBe(10);
});

test("another probe statement measures the wait for a database connection when the answer of the first probe was lost", async () => {
  const { wait, answers } = createPool();
  wait.state();
  await vi.advanceTimersByTimeAsync(15_000);
  expect(wait.state()).toBe("free");
  expect(answers).toHaveLength(2);
  answers[1]?.();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(wait.state()).toBe("free");
});
