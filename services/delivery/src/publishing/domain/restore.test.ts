import { expect, test } from "vitest";
import { findRestore, findTrustRefusal, findUnseenLoss } from "./restore.ts";

const COPY = { tableOid: 16_500, timeline: 1 };
const SEEN_AT = new Date("2026-11-21T12:00:00Z");
const STORED = { ...COPY, seenAt: SEEN_AT };

test.each([
  ["has read the data before", SEEN_AT],
  ["has just started", undefined],
])("a process that %s does not report unchanged data as restored", (_process, rememberedAt) => {
  expect(findRestore(STORED, COPY, rememberedAt)).toBeUndefined();
});

test("data is reported as restored when its Postgres cluster is on another timeline than the data records", () => {
  expect(findRestore(STORED, { ...COPY, timeline: 2 }, undefined)).toBe("timeline");
});

test("data is reported as restored from a dump when its Postgres table has another object id than the data records", () => {
  expect(findRestore(STORED, { ...COPY, tableOid: 16_900 }, undefined)).toBe("reloaded");
});

test("data is reported as restored when it is older than the data that the process has read before", () => {
  expect(findRestore(STORED, COPY, new Date(SEEN_AT.getTime() + 1))).toBe("rewound");
});

const RESTORED_AT = new Date("2026-11-21T13:00:00Z");
const RESTORED = {
  ...STORED,
  restoredAt: RESTORED_AT,
  dataUntil: SEEN_AT,
  undoFor: RESTORED_AT,
  lossyAt: null,
  trustedAt: null,
};

function hoursLater(hours: number): Date {
  return new Date(RESTORED_AT.getTime() + hours * 3_600_000);
}

test("an operator can declare a restore lossless within a day after the restore", () => {
  expect(findTrustRefusal(RESTORED, COPY, hoursLater(24))).toBeUndefined();
  expect(findTrustRefusal(RESTORED, COPY, hoursLater(25))).toBe("too_old");
});

test.each([
  ["another timeline shows a restore that is not recorded yet", "unnoticed", { timeline: 2 }],
  ["no restore is recorded", "not_restored", { restoredAt: null, undoFor: null }],
  [
    "the restore was already declared lossless",
    "already_trusted",
    { restoredAt: null, trustedAt: RESTORED_AT },
  ],
  [
    "a later restore was already declared lossless",
    "already_trusted",
    { undoFor: hoursLater(1), trustedAt: hoursLater(1) },
  ],
  ["the state before it is not recorded", "data_lost", { undoFor: hoursLater(-1) }],
  ["the restore lost data", "data_lost", { lossyAt: RESTORED_AT }],
])("a restore cannot be declared lossless when %s", (_case, refusal, changes) => {
  expect(findTrustRefusal({ ...RESTORED, ...changes }, COPY, hoursLater(1))).toBe(refusal);
});

test("a restore can be declared lossless even if an earlier restore lost data or was declared lossless", () => {
  const earlier = { lossyAt: hoursLater(-2), trustedAt: hoursLater(-1) };
  expect(findTrustRefusal({ ...RESTORED, ...earlier }, COPY, hoursLater(1))).toBeUndefined();
});

const MOVED = { timeline: 2 };

test("a process that had read newer data than a restore that another process recorded reports that the restore lost commits", () => {
  const remembered = { ...STORED, seenAt: new Date(SEEN_AT.getTime() + 1) };
  expect(findUnseenLoss({ ...RESTORED, ...MOVED }, remembered)).toEqual(RESTORED_AT);
});

test.each([
  ["the process had read no newer data than the restored data", { ...MOVED }, 0],
  ["an operator recorded a restore, and the data is still in the same Postgres cluster", {}, 1],
  ["the restore is already known to have lost commits", { ...MOVED, lossyAt: RESTORED_AT }, 1],
  ["the state before the restore is not recorded", { ...MOVED, undoFor: null }, 1],
])("a process does not report that a restore lost commits when %s", (_case, changes, laterMs) => {
  const remembered = { ...STORED, seenAt: new Date(SEEN_AT.getTime() + laterMs) };
  expect(findUnseenLoss({ ...RESTORED, ...changes }, remembered)).toBeUndefined();
});
