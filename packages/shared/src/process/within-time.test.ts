import { expect, test } from "vitest";
import { withinTime } from "./within-time.ts";

test("withinTime rejects when the promise never settles", async () => {
  const never = new Promise<never>(() => {});
  await expect(withinTime(never, 1, "the call took too long")).rejects.toThrow(
    "the call took too long",
  );
});

test("withinTime returns the value, or the error, of a promise that settles in time", async () => {
  expect(await withinTime(Promise.resolve(7), 60_000, "too long")).toBe(7);
  await expect(withinTime(Promise.reject(new Error("broken")), 60_000, "too long")).rejects.toThrow(
    "broken",
  );
});
