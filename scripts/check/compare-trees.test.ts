import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { compareTrees } from "./compare-trees.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function makeTree(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "compare-trees-"));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

test("comparing equal folder trees reports no difference", () => {
  const files = { "a.ts": "1", "b/c.ts": "2" };
  expect(compareTrees(makeTree(files), makeTree(files))).toEqual([]);
});

test("comparing folder trees names each changed, missing and surplus file", () => {
  const expected = makeTree({ "a.ts": "1", "b/c.ts": "2", "d.ts": "3" });
  const actual = makeTree({ "a.ts": "1", "b/c.ts": "changed", "b/e.ts": "4" });
  expect(compareTrees(expected, actual)).toEqual([
    "changed: b/c.ts",
    "missing: d.ts",
    "left over: b/e.ts",
  ]);
});
