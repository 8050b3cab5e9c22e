import { expect, test } from "vitest";
import {
  MAX_VISIBLE_CALL_MS,
  STOP_GRACE_MS,
  visibleCallTime,
  withUploadTime,
} from "./upload-time.ts";

const MIB = 1024 * 1024;

test("a call gets time for what it carries", () => {
  expect(withUploadTime(60_000, 0)).toBe(60_000);
  expect(visibleCallTime(60_000, 50 * MIB)).toBe(withUploadTime(60_000, 50 * MIB));
});

test("no call that makes a post visible lasts longer than a process that stops may", () => {
  expect(visibleCallTime(60_000, 10 * 50 * MIB)).toBe(MAX_VISIBLE_CALL_MS);
  expect(MAX_VISIBLE_CALL_MS).toBeLessThan(STOP_GRACE_MS);
});
