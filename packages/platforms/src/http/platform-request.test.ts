import { expect, test } from "vitest";
import {
  MAX_VISIBLE_CALL_MS,
  STOP_GRACE_MS,
  visibleCallTime,
  withUploadTime,
} from "./platform-request.ts";

const MIB = 1024 * 1024;

test("the deadline of a publishing call grows with the bytes that it uploads", () => {
  expect(withUploadTime(60_000, 0)).toBe(60_000);
  expect(withUploadTime(60_000, 50 * MIB)).toBeGreaterThan(60_000);
  expect(visibleCallTime(60_000, 50 * MIB)).toBe(withUploadTime(60_000, 50 * MIB));
});

test("the deadline of a publishing call with a large upload is shorter than the time that a stopping process has to finish", () => {
  expect(visibleCallTime(60_000, 10 * 50 * MIB)).toBe(MAX_VISIBLE_CALL_MS);
  expect(MAX_VISIBLE_CALL_MS).toBeLessThan(STOP_GRACE_MS);
});
