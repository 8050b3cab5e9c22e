import fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedMap } from "./bounded-map.ts";

test("a full bounded map keeps only the entries that were set most recently", () => {
  const keys = fc.array(fc.integer({ min: 0, max: 9 }));
  fc.assert(
    fc.property(keys, fc.integer({ min: 1, max: 5 }), (sets, max) => {
      const map = new BoundedMap<number, number>(max);
      for (const key of sets) map.set(key, key);
      const newest = [...new Set(sets.toReversed())].slice(0, max).toReversed();
      expect([...map.values()]).toEqual(newest);
    }),
  );
});

test("deleteOldestWhile deletes the oldest entries of a bounded map up to the first entry that the condition does not match", () => {
  const map = new BoundedMap<string, number>(10);
  for (const [key, until] of [
    ["a", 1],
    ["b", 5],
    ["c", 2],
  ] as const)
    map.set(key, until);
  map.deleteOldestWhile((until) => until < 3);
  expect([...map.values()]).toEqual([5, 2]);
  map.delete("b");
  expect([map.get("b"), map.get("c")]).toEqual([undefined, 2]);
});
