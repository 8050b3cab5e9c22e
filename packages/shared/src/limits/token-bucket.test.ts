import fc from "fast-check";
import { expect, test } from "vitest";
import { msUntilTokens, tokensAt } from "./token-bucket.ts";

const SIZE = { capacity: 120, windowMs: 60_000 };

test("a token bucket is full again after one window, and never holds more tokens than its capacity", () => {
  const empty = { tokens: 0, at: 1_000 };
  expect(tokensAt(empty, SIZE, 1_000)).toBe(0);
  expect(tokensAt(empty, SIZE, 1_500)).toBe(1);
  expect(tokensAt(empty, SIZE, 61_000)).toBe(120);
  expect(tokensAt(empty, SIZE, 600_000)).toBe(120);
});

test("a clock that goes back removes no tokens from a bucket", () => {
  expect(tokensAt({ tokens: 5, at: 1_000 }, SIZE, 0)).toBe(5);
});

test("the wait that a token bucket announces is exactly the time until it has the requested tokens", () => {
  const tokens = fc.integer({ min: -50, max: 120 });
  fc.assert(
    fc.property(tokens, fc.integer({ min: 0, max: 120 }), (present, wanted) => {
      const waitMs = msUntilTokens(present, wanted, SIZE);
      expect(tokensAt({ tokens: present, at: 0 }, SIZE, waitMs)).toBeCloseTo(
        Math.max(present, wanted),
        6,
      );
    }),
  );
});
