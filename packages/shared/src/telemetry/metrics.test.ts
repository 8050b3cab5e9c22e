import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createAgeGauge, createCounter, createGauge, renderMetrics } from "./metrics.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Returns the lines of one metric in the metrics output, each without the name of the metric. */
async function read(name: string): Promise<readonly string[]> {
  const { body } = await renderMetrics();
  return body
    .split("\n")
    .filter((line) => line.startsWith(name))
    .map((line) => line.slice(name.length));
}

test("an age gauge keeps growing between updates, and is 0 when nothing waits", async () => {
  const gauge = createAgeGauge("test_oldest_seconds", "For this test.", ["topic"]);
  gauge.set({ topic: "a" }, new Date());
  gauge.set({ topic: "b" }, undefined);

  vi.setSystemTime(Date.now() + 90_000);
  expect(await read("test_oldest_seconds")).toEqual(['{topic="a"} 90', '{topic="b"} 0']);

  gauge.set({ topic: "a" }, undefined);
  expect(await read("test_oldest_seconds")).toEqual(['{topic="a"} 0', '{topic="b"} 0']);
});

test("an age gauge no longer reports a series that was removed", async () => {
  const gauge = createAgeGauge("test_lag_seconds", "For this test.", ["partition"]);
  for (const partition of ["0", "1"]) gauge.set({ partition }, new Date());
  vi.setSystemTime(Date.now() + 1_000);
  await read("test_lag_seconds");

  gauge.forget(({ partition }) => partition === "1");

  expect(await read("test_lag_seconds")).toEqual(['{partition="0"} 1']);
});

test("only the label sets that are listed when a counter is created are reported as 0 from the start", async () => {
  const counter = createCounter("test_known_total", "For this test.", ["code"], [{ code: "a" }]);
  expect(await read("test_known_total")).toEqual(['{code="a"} 0']);

  counter.inc({ code: "a" });
  counter.inc({ code: "b" });
  expect(await read("test_known_total")).toEqual(['{code="a"} 1', '{code="b"} 1']);
});

test("an age gauge is never negative after the clock was set back", async () => {
  const gauge = createAgeGauge("test_skewed_seconds", "For this test.");
  gauge.set({}, new Date(Date.now() + 60_000));

  expect(await read("test_skewed_seconds")).toEqual([" 0"]);
});

test("reading metrics waits for asynchronous measurements", async () => {
  createGauge("test_measured", "For this test.", [], async (gauge) => {
    await Promise.resolve();
    gauge.set(7);
  });

  expect(await read("test_measured")).toEqual([" 7"]);
});
