import { resolve } from "node:path";
import { expect, test } from "vitest";
import { findPackages, keyOf } from "./find-packages.ts";
import { toSbom } from "./to-sbom.ts";

const PRODUCT = { name: "product", version: "0.1.0", licence: "Apache-2.0" };

test("the bill of materials lists a package with its version, licence and dependencies", () => {
  const packages = [
    { name: "@s/b", version: "1.0.0-rc.1+x", licence: "(MIT OR CC0-1.0)", needs: [] },
    { name: "a", version: "2.0.0", licence: "MIT", needs: ["@s/b@1.0.0-rc.1+x"] },
  ];
  const [b, a] = ["pkg:npm/%40s/b@1.0.0-rc.1%2Bx", "pkg:npm/a@2.0.0"];
  expect(toSbom(PRODUCT, packages)).toEqual({
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": "product",
        name: "product",
        version: "0.1.0",
        licenses: [{ license: { id: "Apache-2.0" } }],
      },
    },
    components: [
      {
        type: "library",
        "bom-ref": b,
        name: "@s/b",
        version: "1.0.0-rc.1+x",
        licenses: [{ expression: "(MIT OR CC0-1.0)" }],
        purl: b,
      },
      {
        type: "library",
        "bom-ref": a,
        name: "a",
        version: "2.0.0",
        licenses: [{ license: { id: "MIT" } }],
        purl: a,
      },
    ],
    dependencies: [
      { ref: b, dependsOn: [] },
      { ref: a, dependsOn: [b] },
    ],
  });
});

test("the bill of materials lists every shipped package once, with a version and a licence", () => {
  const packages = findPackages(resolve(import.meta.dirname, "../.."));
  const { components, dependencies } = toSbom(PRODUCT, packages);
  const refs = components.map((component) => component["bom-ref"]);
  expect(new Set(refs).size).toBe(refs.length);
  expect(components.map(keyOf).toSorted()).toEqual(packages.map(keyOf).toSorted());
  expect(
    components.filter(({ version, licenses }) => version === "" || licenses.length === 0),
  ).toEqual([]);
  expect(
    dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.includes(ref)),
  ).toEqual([]);
});
