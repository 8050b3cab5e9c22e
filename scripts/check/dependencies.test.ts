import { resolve } from "node:path";
import { expect, test } from "vitest";
import { findPackages } from "../dependencies/find-packages.ts";
import { readAudit, findForbidden, isAllowed } from "./dependencies.ts";

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

/** An advisory as pnpm 10 prints it. */
const advisory = (severity: string) => ({
  severity,
  module_name: "left-pad",
  vulnerable_versions: "<1.3.0",
  title: "Pads too much",
  url: "https://github.com/advisories/GHSA-0",
});

function answer(...severities: readonly string[]): string {
  const advisories = Object.fromEntries(severities.map((each, index) => [index, advisory(each)]));
  return `npm warn something else\n${JSON.stringify({ actions: [], advisories, metadata: {} })}\n`;
}

test("the dependency audit reports no vulnerability if no advisory is known", () => {
  expect(readAudit(answer())).toEqual({ kind: "answered", grave: [], others: 0 });
});

test("the dependency audit names each high or critical advisory, and counts the less severe ones", () => {
  const line = (severity: string) =>
    `left-pad <1.3.0: ${severity}: Pads too much (https://github.com/advisories/GHSA-0)`;
  expect(readAudit(answer("low", "high", "moderate", "critical"))).toEqual({
    kind: "answered",
    grave: [line("high"), line("critical")],
    others: 2,
  });
});

test.each([
  [
    JSON.stringify({
      error: { code: "ERR_PNPM_AUDIT_BAD_RESPONSE", message: "responded with 405" },
    }),
    "responded with 405",
  ],
  ["getaddrinfo ENOTFOUND registry\nmore", "getaddrinfo ENOTFOUND registry"],
  ["", "pnpm audit printed nothing"],
])(
  "the dependency audit does not report an unavailable registry as a vulnerability: %j",
  (output, reason) => {
    expect(readAudit(output)).toEqual({ kind: "unavailable", reason });
  },
);
