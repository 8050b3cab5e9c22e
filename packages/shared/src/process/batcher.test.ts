import { expect, test } from "vitest";
import { eventually } from "#src/testing/poll.ts";
import { Batcher } from "./batcher.ts";

/**
 * Time for which a batcher waits for further items. It is so long that it does not end during a
 * test.
 */
const LONG_MS = 3_600_000;

function createDoubler(windowMs: number, maxItems: number) {
  const batches: (readonly number[])[] = [];
  const batcher = new Batcher<number, number>({
    windowMs,
    maxItems,
    flush: (items) => {
      batches.push(items);
      return Promise.resolve(items.map((item) => item * 2));
    },
  });
  return { batcher, batches };
}

test("a batcher handles the items together that are submitted within its time window", async () => {
  const { batcher, batches } = createDoubler(1, 100);
  const results = await Promise.all([1, 2, 3].map((item) => batcher.submit(item)));
  expect(results).toEqual([2, 4, 6]);
  expect(batches).toEqual([[1, 2, 3]]);
});

test("a batcher handles a full batch before its time window ends", async () => {
  const { batcher, batches } = createDoubler(LONG_MS, 2);
  const results = await Promise.all([1, 2, 3, 4].map((item) => batcher.submit(item)));
  expect(results).toEqual([2, 4, 6, 8]);
  expect(batches).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test("draining a batcher handles the waiting items immediately", async () => {
  const { batcher, batches } = createDoubler(LONG_MS, 100);
  const result = batcher.submit(1);
  await batcher.drain();
  expect(batches).toEqual([[1]]);
  expect(await result).toBe(2);
});

test("when a batch of a batcher fails, every item of the batch rejects with the error, and the next batch succeeds", async () => {
  let isFirst = true;
  const batcher = new Batcher<number, number>({
    windowMs: LONG_MS,
    maxItems: 2,
    flush: (items) => {
      if (!isFirst) return Promise.resolve(items);
      isFirst = false;
      return Promise.reject(new Error("the service is unavailable"));
    },
  });
  const failed = await Promise.allSettled([batcher.submit(1), batcher.submit(2)]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await Promise.all([batcher.submit(3), batcher.submit(4)])).toEqual([3, 4]);
});

/** Batches that wait for each other, and end when the test ends them. */
function createPatient(patienceMs: number) {
  const batches: (readonly number[])[] = [];
  const ends: (() => void)[] = [];
  const batcher = new Batcher<number, number>({
    windowMs: 0,
    maxItems: 3,
    patienceMs,
    flush: (items) => {
      batches.push(items);
      const { promise, resolve } = Promise.withResolvers<readonly number[]>();
      ends.push(() => resolve(items));
      return promise;
    },
  });
  return { batcher, batches, end: () => ends.shift()?.() };
}

test("items that are submitted while a batch is handled form the next batches, which begin one after the other", async () => {
  const { batcher, batches, end } = createPatient(LONG_MS);
  const first = batcher.submit(1);
  await eventually(() => batches.length === 1);
  const later = [2, 3, 4, 5].map((item) => batcher.submit(item));
  end();
  expect(await first).toBe(1);
  await eventually(() => batches.length === 2);
  expect(batches).toEqual([[1], [2, 3, 4]]);
  end();
  await eventually(() => batches.length === 3);
  end();
  expect(await Promise.all(later)).toEqual([2, 3, 4, 5]);
  expect(batches).toEqual([[1], [2, 3, 4], [5]]);
});

test("a batch that is not handled in time does not delay the items after it", async () => {
  const { batcher, batches } = createPatient(5);
  void batcher.submit(1);
  await eventually(() => batches.length === 1);
  void batcher.submit(2);
  await eventually(() => batches.length === 2);
  expect(batches).toEqual([[1], [2]]);
});
