import { expect, test } from "vitest";
import { RetryLaterError } from "#src/bus.ts";
import { retryDelayMs } from "#src/bus/retries.ts";

const error = new Error("unavailable");

test("the pauses between retries of an event double from 100 ms up to 5 s", () => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 8, 1000].map((failures) =>
    retryDelayMs(error, failures, () => 0.5),
  );
  expect(delays).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
});

test("the pauses between retries of an event vary, so that replicas do not retry together", () => {
  expect(retryDelayMs(error, 7, () => 0)).toBe(4000);
  expect(retryDelayMs(error, 7, () => 1)).toBe(6000);
});

test("the pause before a retry is the pause that the error specifies, if it specifies one", () => {
  expect(retryDelayMs(new RetryLaterError("later", 1234), 9)).toBe(1234);
});
