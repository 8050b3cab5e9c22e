import { expect, test } from "vitest";
import { findRestore } from "./restore.ts";

const COPY = { tableOid: 16_500, timeline: 1 };
const SEEN_AT = new Date("2026-11-21T12:00:00Z");
const STORED = { ...COPY, seenAt: SEEN_AT };

test.each([
  ["has read it before", SEEN_AT],
  ["has just started", undefined],
])("a process that %s does not report unchanged data as restored", (_process, rememberedAt) => {
  expect(findRestore(STORED, COPY, rememberedAt)).toBeUndefined();
});

test("data on another timeline of its Postgres cluster is reported as restored", () => {
  expect(findRestore(STORED, { ...COPY, timeline: 2 }, undefined)).toBe("timeline");
});

test("data in a Postgres table that was created again is reported as restored from a dump", () => {
  expect(findRestore(STORED, { ...COPY, tableOid: 16_900 }, undefined)).toBe("reloaded");
});

test("data that is older than what the process has already read is reported as restored", () => {
  expect(findRestore(STORED, COPY, new Date(SEEN_AT.getTime() + 1))).toBe("rewound");
});
