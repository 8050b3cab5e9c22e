import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./run-command.ts";

const packages = globSync("{packages,services,examples}/*/package.json", { cwd: root })
  .concat("bench/package.json", "e2e/package.json")
  .map(dirname)
  .toSorted();

const readJson = (path: string): unknown => JSON.parse(readFileSync(join(root, path), "utf8"));

/** Returns the entries of `include` of a package's `tsconfig.json`, relative to the root; packages are written as `*`. */
function includesOf(folder: string): readonly string[] {
  const { include } = readJson(join(folder, "tsconfig.json")) as { readonly include: string[] };
  const pattern = folder.replace(/\/.*/, "/*");
  return include.map((entry) => (entry === "." ? pattern : `${pattern}/${entry}`));
}

test.each(packages)(
  "the check of all types covers the files of %s, with the options of the package",
  (folder) => {
    const { include } = readJson("tsconfig.json") as { readonly include: string[] };

    expect(include).toEqual(expect.arrayContaining([...includesOf(folder)]));
    // Options of one package only would be unknown to the check of all packages.
    expect(Object.keys(readJson(join(folder, "tsconfig.json")) as object)).toEqual([
      "extends",
      "include",
    ]);
  },
);
