import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./run-command.ts";

// The benchmarks are for developers, who put the project's Node on their PATH first.
const PAGES = ["*.md", "{deploy,docs}/**/*.md", "{packages,services,e2e}/*/README.md"];
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/** Node 20 does not run TypeScript, and a fresh checkout has no packages. */
function findFaults(page: string): readonly string[] {
  const direct = [...page.matchAll(/\bnode scripts\/[\w/-]+\.ts/g)].map(([text]) => text);
  const unknown = [...page.matchAll(/\bnpm run (?:-s |--silent )?([\w:-]+)/g)]
    .filter(([, name = ""]) => scripts[name] === undefined)
    .map(([text]) => text);
  return [...direct, ...unknown];
}

test("the documents call scripts by commands of npm, which work in a fresh checkout with Node 20", () => {
  const faults = globSync(PAGES, { cwd: root }).flatMap((file) =>
    findFaults(readFileSync(join(root, file), "utf8")).map((fault) => `${file}: ${fault}`),
  );
  expect(faults).toEqual([]);
});

test.each(["node scripts/manifests.ts deploy/k8s", "npm run -s manifest deploy/k8s"])(
  "the check of documented commands reports `%s`",
  (line) => expect(findFaults(line)).toHaveLength(1),
);

test("each command that starts with the bootstrap is known to it", () => {
  const bootstrap = readFileSync(join(root, "scripts/bootstrap.mjs"), "utf8");
  const names = Object.values(scripts).flatMap(
    (text) => /bootstrap\.mjs (\S+)/.exec(text)?.[1] ?? [],
  );
  expect(names.filter((name) => !new RegExp(`"?${name}"?[:,\\]]`).test(bootstrap))).toEqual([]);
});
