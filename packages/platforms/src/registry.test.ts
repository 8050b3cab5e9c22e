import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isPlatformId, PLATFORM_IDS } from "#src/platform-id.ts";
import { PLATFORM_FACTS } from "#src/registry.ts";

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
  for (const text of ["X", " x", "x ", "", "threads", "toString"])
    expect(isPlatformId(text), text).toBe(false);
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

/** Adds to `files` a source file and everything that it loads, by the paths below `src`. */
function collectLoaded(path: string, files: Set<string>): void {
  if (files.has(path)) return;
  files.add(path);
  const source = readFileSync(join(import.meta.dirname, path), "utf8");
  for (const [, from = ""] of source.matchAll(/^import (?!type )[^;]*?from "([^"]+)";/gm))
    if (from.startsWith("#src/")) collectLoaded(from.slice("#src/".length), files);
    else if (from.startsWith(".")) collectLoaded(join(path, "..", from), files);
    else files.add(from);
}

test("a service that reads only the facts of the platforms loads no code that calls a platform", () => {
  const files = new Set<string>();
  collectLoaded("registry.ts", files);
  expect(files).toContain("x/facts.ts");
  expect(
    [...files].filter(
      (file) => !/^(?:registry|\w+\/(?:facts|offer|settings)|settings\/.+)\.ts$/.test(file),
    ),
  ).toEqual([]);
});
