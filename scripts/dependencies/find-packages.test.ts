import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findPackages } from "./find-packages.ts";

const checkout = resolve(import.meta.dirname, "../..");
let root = "";

function write(path: string, manifest: object): void {
  mkdirSync(join(root, path), { recursive: true });
  writeFileSync(join(root, path, "package.json"), JSON.stringify(manifest));
}

/** Creates a symbolic link as pnpm does: the dependencies of a package lie beside it. */
function link(from: string, to: string): void {
  mkdirSync(dirname(join(root, from)), { recursive: true });
  symlinkSync(join(root, to), join(root, from));
}

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "dependencies-"));
  write("services/one", {
    name: "@ours/one",
    dependencies: { a: "1", "@ours/shared": "1" },
    devDependencies: { tool: "1" },
  });
  write("packages/shared", {
    name: "@ours/shared",
    dependencies: { "@s/b": "2" },
    optionalDependencies: { "for-another-machine": "1" },
  });
  write("e2e", { name: "@ours/e2e", dependencies: { tool: "1" } });
  const store = "node_modules/.pnpm";
  write(`${store}/a@1/node_modules/a`, {
    name: "a",
    version: "1.0.0",
    license: "MIT",
    dependencies: { "@s/b": "1" },
    peerDependencies: { tool: "1" },
  });
  write(`${store}/b@1/node_modules/@s/b`, {
    name: "@s/b",
    version: "1.5.0",
    licenses: [{ type: "ISC" }],
  });
  write(`${store}/b@2/node_modules/@s/b`, { name: "@s/b", version: "2.0.0", license: "MIT" });
  // A second folder of pnpm with the same version of the package `@s/b`, but with other peer
  // dependencies.
  write(`${store}/b@2_x/node_modules/@s/b`, { name: "@s/b", version: "2.0.0", license: "MIT" });
  write(`${store}/tool@1/node_modules/tool`, {
    name: "tool",
    version: "1.0.0",
    license: "GPL-3.0",
  });
  link("services/one/node_modules/a", `${store}/a@1/node_modules/a`);
  link("services/one/node_modules/tool", `${store}/tool@1/node_modules/tool`);
  link("services/one/node_modules/@ours/shared", "packages/shared");
  link(`${store}/a@1/node_modules/@s/b`, `${store}/b@1/node_modules/@s/b`);
  link("packages/shared/node_modules/@s/b", `${store}/b@2/node_modules/@s/b`);
  link("e2e/node_modules/tool", `${store}/tool@1/node_modules/tool`);
  link("node_modules/tool", `${store}/tool@1/node_modules/tool`);
});
afterAll(() => rmSync(root, { recursive: true }));

test("the package search finds each version of a production dependency once, and no development dependency", () => {
  expect(findPackages(root)).toEqual([
    { name: "@s/b", version: "1.5.0", licence: "ISC", needs: [] },
    { name: "@s/b", version: "2.0.0", licence: "MIT", needs: [] },
    { name: "a", version: "1.0.0", licence: "MIT", needs: ["@s/b@1.5.0"] },
  ]);
});

test("the package search fails with the name of a dependency that is not installed", () => {
  write("services/two", { name: "@ours/two", dependencies: { gone: "1" } });
  expect(() => findPackages(root)).toThrow("@ours/two needs gone, which is not installed");
  rmSync(join(root, "services/two"), { recursive: true });
});

test("the package search finds every dependency of the gateway in this checkout, with its version and a licence", () => {
  const found = findPackages(checkout);
  const { dependencies } = JSON.parse(
    readFileSync(join(checkout, "services/gateway/package.json"), "utf8"),
  ) as { dependencies: Record<string, string> };
  const asked = Object.entries(dependencies).filter(([, version]) => /^\d/.test(version));
  expect(asked.length).toBeGreaterThan(3);
  for (const [name, version] of asked)
    expect(found).toContainEqual(expect.objectContaining({ name, version }));
  expect(found.filter(({ licence }) => licence === "")).toEqual([]);
  expect(found.some(({ name }) => name === "vitest" || name === "playwright-core")).toBe(false);
});
