import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const ROW = /^\| [^|]+ \| `([\w./-]+\.ts)`, `(\w+)`/gm;

const architecture = readFileSync("docs/architecture.md", "utf8");
const decisions = [...architecture.matchAll(ROW)].map(([, file = "", name = ""]) => ({
  file,
  name,
}));

test.each(decisions)("docs/architecture.md names $file, which has $name", ({ file, name }) => {
  expect(readFileSync(file, "utf8")).toMatch(new RegExp(`\\b${name}\\b`));
});

test("docs/architecture.md says of at least ten decisions where they are made", () => {
  expect(decisions.length).toBeGreaterThanOrEqual(10);
});
