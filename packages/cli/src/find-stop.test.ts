import { expect, test } from "vitest";
import { isQuiet } from "#src/find-stop.ts";

const SETTLE = { settleSeconds: 120 };

function atAgo(ms: number): string {
  return new Date(Date.now() - ms).toISOString();
}

test("a workspace is quiet once the time in which requests end has passed since its stop", () => {
  expect(isQuiet(atAgo(60_000), SETTLE)).toBe(false);
  expect(isQuiet(atAgo(180_000), SETTLE)).toBe(true);
});

test("a move that has waited needs no clock that agrees with the database's, and its wait is good for this stop only", () => {
  const ahead = atAgo(-5_000);
  expect(isQuiet(ahead, { ...SETTLE, quietSince: ahead })).toBe(true);
  expect(isQuiet(atAgo(180_000), { ...SETTLE, quietSince: ahead })).toBe(false);
});
