import { expect, test } from "vitest";
import { isPlatformId, PLATFORM_IDS } from "./platform-id.ts";
import { PLATFORM_FACTS } from "./registry.ts";

test("PLATFORM_IDS lists the platforms in the order of the REST contract", () => {
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

test("isPlatformId accepts only the exact spelling of a platform id", () => {
  expect(PLATFORM_IDS.every(isPlatformId)).toBe(true);
  for (const text of ["X", " x", "x ", "", "threads", "toString"]) {
    expect(isPlatformId(text), text).toBe(false);
  }
});

test.each(PLATFORM_IDS)(
  "the platform rules of %s have the platform's own id and do not contradict each other",
  (id) => {
    const rules = PLATFORM_FACTS[id].rules;
    expect(rules.id).toBe(id);
    expect(rules.media.required).toBe(rules.media.min > 0);
    expect(rules.media.maxVideos).toBeLessThanOrEqual(rules.media.max);
    expect(rules.metrics.supported).toBe(rules.metrics.names.length > 0);
    expect(rules.kinds.includes("text")).toBe(!rules.media.required);
    expect(rules.privacy).toContain("public");
  },
);

test.each(PLATFORM_IDS)(
  "every rule that `verifyLive` of %s lists for a check against the real platform exists in the platform rules",
  (id) => {
    for (const path of PLATFORM_FACTS[id].rules.verifyLive) {
      let value: unknown = PLATFORM_FACTS[id].rules;
      for (const key of path.split(".")) {
        expect(value, path).toHaveProperty(key);
        value = (value as Record<string, unknown>)[key];
      }
    }
  },
);
