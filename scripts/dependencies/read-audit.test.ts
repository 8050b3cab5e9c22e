import { expect, test } from "vitest";
import { readAudit } from "./read-audit.ts";

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
