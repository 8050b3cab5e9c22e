import { expect, test } from "vitest";
import { isPlatformId, PLATFORM_IDS, PLATFORMS } from "./registry.ts";

test("the platforms are listed in the order of the contract", () => {
  expect(PLATFORM_IDS).toEqual([
    "instagram",
    "x",
    "facebook",
    "tiktok",
    "youtube",
    "telegram",
    "bluesky",
  ]);
});

test("a platform id is recognised only as it is written", () => {
  expect(PLATFORM_IDS.every(isPlatformId)).toBe(true);
  for (const text of ["X", " x", "x ", "", "threads", "toString"]) {
    expect(isPlatformId(text), text).toBe(false);
  }
});

test.each(PLATFORM_IDS)("the rules of %s carry its own id and agree with each other", (id) => {
  const rules = PLATFORMS[id];
  expect(rules.id).toBe(id);
  expect(rules.media.required).toBe(rules.media.min > 0);
  expect(rules.media.maxVideos).toBeLessThanOrEqual(rules.media.max);
  expect(rules.metrics.supported).toBe(rules.metrics.names.length > 0);
  expect(rules.kinds.includes("text")).toBe(!rules.media.required);
  expect(rules.privacy).toContain("public");
});

test.each(PLATFORM_IDS)("every weakly sourced value named for %s exists", (id) => {
  for (const path of PLATFORMS[id].verifyLive) {
    let value: unknown = PLATFORMS[id];
    for (const key of path.split(".")) {
      expect(value, path).toHaveProperty(key);
      value = (value as Record<string, unknown>)[key];
    }
  }
});
