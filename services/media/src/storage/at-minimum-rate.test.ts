import { expect, test } from "vitest";
import { atMinimumRate } from "./at-minimum-rate.ts";

const RATE = { bytesPerSecond: 1_000, stallMs: 100 };

test("a copy of a file ends with an error when its source sends nothing for the maximum time", async () => {
  const received: number[] = [];
  const source = (async function* () {
    yield Buffer.alloc(5);
    await new Promise(() => {});
  })();
  await expect(async () => {
    for await (const { length } of atMinimumRate(source, RATE)) received.push(length);
  }).rejects.toThrow("the bytes arrive below the minimum rate");
  expect(received).toEqual([5]);
});

test("a copy of a file goes on when only its reader is slow", async () => {
  const source = (async function* () {
    yield Buffer.alloc(5);
    yield Buffer.alloc(6);
  })();
  const received: number[] = [];
  for await (const { length } of atMinimumRate(source, RATE)) {
    received.push(length);
    const startedAt = performance.now();
    while (performance.now() - startedAt < 3 * RATE.stallMs) await new Promise(setImmediate);
  }
  expect(received).toEqual([5, 6]);
});
