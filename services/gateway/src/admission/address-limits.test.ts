import fc from "fast-check";
import { expect, test } from "vitest";
import { KeyedBuckets } from "./address-limits.ts";

const OPTIONS = { capacity: 3, windowMs: 3_000, maxKeys: 10 };

test("KeyedBuckets refuses a key without tokens until a token is refilled, and accepts other keys", () => {
  const buckets = new KeyedBuckets(OPTIONS);
  expect([1, 2, 3, 4].map(() => buckets.tryTake("a", 0))).toEqual([true, true, true, false]);
  expect(buckets.tryTake("b", 0)).toBe(true);
  expect(buckets.tryTake("a", 999)).toBe(false);
  expect(buckets.tryTake("a", 1_000)).toBe(true);
});

test("KeyedBuckets refuses a key that took more tokens than its bucket had, until these tokens are refilled", () => {
  const buckets = new KeyedBuckets(OPTIONS);
  for (let count = 0; count < 5; count++) buckets.takeOnCredit("a", 0);
  expect(buckets.tokensOf("a", 0)).toBe(-2);
  expect(buckets.tryTake("a", 2_999)).toBe(false);
  expect(buckets.tryTake("a", 3_000)).toBe(true);
});

test("KeyedBuckets accepts a key again after a token was returned to its bucket, and never fills a bucket above its capacity", () => {
  const buckets = new KeyedBuckets(OPTIONS);
  for (let count = 0; count < 3; count++) buckets.takeOnCredit("a", 0);
  buckets.giveBack("a", 0);
  expect([1, 2].map(() => buckets.tryTake("a", 0))).toEqual([true, false]);
  for (let count = 0; count < 2; count++) buckets.giveBack("a", 2_000);
  expect(buckets.tokensOf("a", 2_000)).toBe(3);
});

test("KeyedBuckets drops the bucket of the least recently used key when there are more keys than the maximum", () => {
  const buckets = new KeyedBuckets({ ...OPTIONS, maxKeys: 2 });
  for (const key of ["a", "b", "a", "c"]) buckets.takeOnCredit(key, 0);
  expect(["a", "b", "c"].map((key) => buckets.tokensOf(key, 0))).toEqual([1, 3, 2]);
});

test("in any period, callers take at most the capacity of a key's token bucket plus the tokens refilled in this period", () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 100 });
  fc.assert(
    fc.property(gaps, fc.boolean(), (waits, isSwept) => {
      const buckets = new KeyedBuckets(OPTIONS);
      let [now, taken] = [0, 0];
      for (const waitMs of waits) {
        now += waitMs;
        if (isSwept) buckets.sweep(now);
        if (buckets.tryTake("a", now)) taken += 1;
        expect(taken).toBeLessThanOrEqual(OPTIONS.capacity + now / 1_000);
      }
    }),
  );
});
