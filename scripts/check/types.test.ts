import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./run-command.ts";

/** Its code runs in browsers and has compiler options of its own, so it is checked by itself. */
const CHECKED_ALONE = "packages/dashboard";

const packages = globSync("{packages,services,examples}/*/package.json", { cwd: root })
  .concat("bench/package.json", "e2e/package.json")
  .map(dirname)
  .filter((folder) => folder !== CHECKED_ALONE)
  .toSorted();

const readJson = (path: string): unknown => JSON.parse(readFileSync(join(root, path), "utf8"));

/**
 * Returns the entries of `include` in a package's `tsconfig.json`, relative to the repository root,
 * with `*` for the package.
 */
function includesOf(folder: string): readonly string[] {
  const { include } = readJson(join(folder, "tsconfig.json")) as { readonly include: string[] };
  const pattern = folder.replace(/\/.*/, "/*");
  return include.map((entry) => (entry === "." ? pattern : `${pattern}/${entry}`));
}

test.each(packages)(
  "the type check of all packages covers the files of %s, with the package's compiler options",
  (folder) => {
    const { include } = readJson("tsconfig.json") as { readonly include: string[] };

    expect(include).toEqual(expect.arrayContaining([...includesOf(folder)]));
    // The type check of all packages ignores compiler options in the file of a single package, so a
    // package must not set any.
    expect(Object.keys(readJson(join(folder, "tsconfig.json")) as object)).toEqual([
      "extends",
      "include",
    ]);
  },
);
