import { expect, test } from "vitest";
import { atMinimumRate } from "./at-minimum-rate.ts";

const RATE = { bytesPerSecond: 1_000, stallMs: 500 };

test("copying a file fails when the source sends no bytes for the maximum waiting time", async () => {
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

test("copying a file does not fail when only the reader is slow", async () => {
  const source = (async function* () {
    yield Buffer.alloc(5);
    yield Buffer.alloc(6);
  })();
  const received: number[] = [];
  for await (const { length } of atMinimumRate(source, RATE)) {
    received.push(length);
    const startedAt = performance.now();
    while (performance.now() - startedAt < 2 * RATE.stallMs) await new Promise(setImmediate);
  }
  expect(received).toEqual([5, 6]);
});
