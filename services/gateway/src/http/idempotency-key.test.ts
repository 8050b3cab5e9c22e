import { describe, expect, it } from "vitest";
import { isIdempotencyKey } from "./idempotency-key.ts";

describe("isIdempotencyKey", () => {
  it.each(["a", "!", "~", '"quoted"', "a,b", "x".repeat(255)])("takes %j", (key) => {
    expect(isIdempotencyKey(key)).toBe(true);
  });

  it.each(["", "x".repeat(256), "a b", "a, b", "a\t", "a\n", "\u007f", "é", "키"])(
    "refuses %j",
    (key) => {
      expect(isIdempotencyKey(key)).toBe(false);
    },
  );
});
