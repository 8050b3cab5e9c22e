import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeTestFolder } from "./test-folder.ts";

test("makeTestFolder removes folders of its prefix whose process has ended, and keeps those of running processes and other prefixes", () => {
  const base = mkdtempSync(join(tmpdir(), "postrider-folders-"));
  onTestFinished(() => rmSync(base, { recursive: true }));
  const running = [makeTestFolder("kafka", base), makeTestFolder("kafka-recovery", base)];
  mkdirSync(join(base, "postrider-test-kafka-4194305-7-abcdef"));
  const own = makeTestFolder("kafka", base);
  expect(readdirSync(base).toSorted()).toEqual(
    [...running, own].map((name) => basename(name)).toSorted(),
  );
});
