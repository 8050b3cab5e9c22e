import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PLATFORM_IDS } from "../packages/platforms/src/registry.ts";

const read = (path: string) => readFileSync(new URL(`../docs/${path}`, import.meta.url), "utf8");

const SETTING = /`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[a-z]+)?`/g;

test.each(PLATFORM_IDS)(
  "the guide of %s shows the command that connects an account and is linked from the overview",
  (platform) => {
    expect(read(`platforms/${platform}.md`)).toContain(`postrider account connect ${platform} `);
    expect(read("platforms/README.md")).toContain(`(${platform}.md)`);
  },
);

test.each(["README", ...PLATFORM_IDS])(
  "every setting that the platform guide %s names exists",
  (guide) => {
    const known = read("configuration.md");
    const named = [...read(`platforms/${guide}.md`).matchAll(SETTING)].map(([, name = ""]) => name);
    expect(named.filter((name) => !known.includes(`\`${name}\``))).toEqual([]);
  },
);
