import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const ROW = /^\| [^|]+ \| `([\w./-]+\.ts)`, `(\w+)`/gm;
/** Paths in a README are those of its folder. */
const README = "README.md";

const PAPERS = [
  "docs/architecture.md",
  ...["posts", "media", "delivery"].map((service) => `services/${service}/${README}`),
];

function decisionsOf(paper: string) {
  const folder = paper.endsWith(README) ? dirname(paper) : ".";
  return [...readFileSync(paper, "utf8").matchAll(ROW)].map(([, file = "", name = ""]) => ({
    paper,
    file: join(folder, file),
    name,
  }));
}

test.each(PAPERS.flatMap(decisionsOf))("$paper names $file, which has $name", ({ file, name }) => {
  expect(readFileSync(file, "utf8")).toMatch(new RegExp(`\\b${name}\\b`));
});

test.each(PAPERS)("%s says of several decisions where they are made", (paper) => {
  expect(decisionsOf(paper).length).toBeGreaterThanOrEqual(9);
});
