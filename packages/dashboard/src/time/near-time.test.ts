import { beforeAll, expect, test } from "vitest";
import { loadTemporal } from "./load-temporal.ts";
import { nearTimeOf } from "./near-time.ts";
import { toZoned } from "./place-in-zone.ts";

beforeAll(loadTemporal);

const near = (instant: string, language: "en" | "ko") =>
  nearTimeOf(
    toZoned(instant, "Asia/Seoul"),
    toZoned("2026-11-24T05:05:00Z", "Asia/Seoul"),
    language,
  );

test("a time inside a sentence has its place, and its day where that is not today there", () => {
  expect(near("2026-11-24T14:59:00Z", "ko")).toBe("23:59 서울");
  expect(near("2026-11-24T15:00:00Z", "ko")).toBe("11월 25일 (수), 00:00 서울");
  // The clock is that of the own locale.
  expect(near("2026-11-25T00:00:00Z", "en")).toMatch(/^Wed 25 Nov, .* Seoul$/);
});
