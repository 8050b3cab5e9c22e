import { resolve } from "node:path";
import { expect, test } from "vitest";
import { findForbidden, isAllowed } from "./check-licences.ts";
import { findPackages } from "./find-packages.ts";

test.each([
  ["MIT", true],
  ["(MIT OR GPL-3.0-only)", true],
  ["GPL-3.0-only OR MIT", true],
  ["(Apache-2.0 AND BSD-3-Clause)", true],
  ["(MIT AND GPL-3.0-only)", false],
  ["AGPL-3.0-only", false],
  ["BUSL-1.1", false],
  ["SEE LICENSE IN LICENSE.md", false],
  ["UNLICENSED", false],
  ["", false],
  ["(MIT AND (GPL-3.0-only OR ISC))", false],
])("the licence check decides whether it allows the licence %j: %s", (licence, expected) => {
  expect(isAllowed(licence)).toBe(expected);
});

test("the licence check reports packages under licences that are not allowed, and accepts an exception only under the licence that it names", () => {
  const about = { version: "1.0.0", needs: [] };
  const found = findForbidden([
    { ...about, name: "good", licence: "MIT" },
    { ...about, name: "bad", licence: "SSPL-1.0" },
    { ...about, name: "unlicensed", licence: "" },
    { ...about, name: "@img/sharp-libvips-linux-x64", licence: "LGPL-3.0-or-later" },
    { ...about, name: "@img/sharp-libvips-linux-arm64", licence: "GPL-3.0-only" },
    { ...about, name: "other", licence: "LGPL-3.0-or-later" },
  ]);
  expect(found).toEqual([
    "bad@1.0.0: SSPL-1.0",
    "unlicensed@1.0.0: no licence",
    "@img/sharp-libvips-linux-arm64@1.0.0: GPL-3.0-only",
    "other@1.0.0: LGPL-3.0-or-later",
  ]);
});

test("every package that Postrider ships has an allowed licence", () => {
  expect(findForbidden(findPackages(resolve(import.meta.dirname, "../..")))).toEqual([]);
});
