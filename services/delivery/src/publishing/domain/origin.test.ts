import { expect, test } from "vitest";
import { judgeOrigin, type DataPlace, type Observer, type Origin } from "./origin.ts";

const PLACE: DataPlace = {
  systemIdentifier: "7710658987572135885",
  databaseOid: 5,
  tableOid: 16_500,
  timeline: 1,
};
const SEEN = new Date("2026-11-21T12:00:00Z");
const ORIGIN: Origin = { ...PLACE, deploymentId: "production", seenAt: SEEN };
const OBSERVER: Observer = { deploymentId: "production", rememberedAt: SEEN };

test("data that lies where it belongs is ours, for a process that has just started as well", () => {
  expect(judgeOrigin(ORIGIN, PLACE, OBSERVER)).toEqual({ kind: "ours" });
  expect(judgeOrigin(ORIGIN, PLACE, { ...OBSERVER, rememberedAt: undefined })).toEqual({
    kind: "ours",
  });
});

test.each([
  ["system_identifier", { ...PLACE, systemIdentifier: "1" }, OBSERVER],
  ["database", { ...PLACE, databaseOid: 6 }, OBSERVER],
  ["deployment", PLACE, { ...OBSERVER, deploymentId: "staging" }],
] as const)("data with another %s is a copy", (reason, place, observer) => {
  expect(judgeOrigin(ORIGIN, place, observer)).toEqual({ kind: "foreign", reason });
});

test.each([
  ["timeline", { ...PLACE, timeline: 2 }, OBSERVER],
  ["reloaded", { ...PLACE, tableOid: 16_900 }, OBSERVER],
  ["rewound", PLACE, { ...OBSERVER, rememberedAt: new Date(SEEN.getTime() + 1) }],
] as const)("data that was %s was restored", (reason, place, observer) => {
  expect(judgeOrigin(ORIGIN, place, observer)).toEqual({ kind: "restored", reason });
});

test("a restore elsewhere is a copy first: nothing is sent before a person says so", () => {
  const elsewhere = { ...PLACE, systemIdentifier: "1", timeline: 2, tableOid: 9 };
  expect(judgeOrigin(ORIGIN, elsewhere, OBSERVER).kind).toBe("foreign");
});
