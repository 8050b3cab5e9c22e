import fc from "fast-check";
import { expect, test } from "vitest";
import { freeSlots, nextFreeSlots, slotHorizon } from "./next-slots.ts";
import { type QueueSlotRule, WEEKDAYS } from "./queue-slot-rule.ts";
import { slotInstants } from "./slot-times.ts";

const NOW = new Date("2026-11-20T12:00:00.000Z");
const NONE: ReadonlySet<number> = new Set();

/** Returns a queue-slot rule with one slot a day at 09:00 UTC. */
function ruleOf(change: Partial<QueueSlotRule>): QueueSlotRule {
  return {
    id: "0198c2f0-0000-7000-8000-000000000001",
    status: "active",
    createdAt: new Date("2026-01-01T00:00:00.000Z"),
    weekdays: WEEKDAYS,
    times: ["09:00"],
    timezone: "UTC",
    startsOn: null,
    endsOn: null,
    ...change,
  };
}

function next(
  rules: readonly QueueSlotRule[],
  taken: readonly string[] = [],
  after = NOW,
): [string, string][] {
  const instants = new Set(taken.map((text) => Date.parse(text)));
  return nextFreeSlots(rules, { after, taken: instants, count: 3 }).map(({ slotAt, ruleId }) => [
    slotAt.toISOString(),
    ruleId,
  ]);
}

test("the queue slots of all active rules are returned in order of time, each with its rule", () => {
  const rules = [
    ruleOf({ id: "berlin", timezone: "Europe/Berlin", times: ["09:00", "14:00"] }),
    ruleOf({ id: "seoul", timezone: "Asia/Seoul", times: ["09:00"] }),
    ruleOf({ id: "paused", status: "paused", times: ["12:01"] }),
    ruleOf({ id: "revoked", status: "revoked", times: ["12:02"] }),
  ];

  expect(next(rules)).toEqual([
    ["2026-11-20T13:00:00.000Z", "berlin"],
    ["2026-11-21T00:00:00.000Z", "seoul"],
    ["2026-11-21T08:00:00.000Z", "berlin"],
  ]);
});

const older = ruleOf({ id: "z", createdAt: new Date("2026-01-01T00:00:00.000Z") });
const younger = ruleOf({
  id: "a",
  createdAt: new Date("2026-01-01T00:00:00.001Z"),
  timezone: "Europe/Berlin",
  times: ["10:00", "11:00"],
});
const expected = [
  ["2026-11-21T09:00:00.000Z", "z"],
  ["2026-11-21T10:00:00.000Z", "a"],
  ["2026-11-22T09:00:00.000Z", "z"],
];

test("a queue slot that several rules create belongs to the oldest rule, whatever the order of the rules", () => {
  expect(next([older, younger])).toEqual(expected);
  expect(next([younger, older])).toEqual(expected);
});

test("a queue slot that several equally old rules create belongs to the rule with the lowest id", () => {
  const twin = { ...older, id: "y" };

  expect(next([older, twin]).map(([, id]) => id)).toEqual(["y", "y", "y"]);
  expect(next([twin, older]).map(([, id]) => id)).toEqual(["y", "y", "y"]);
});

test("a taken queue slot that several rules create is taken for all of these rules", () => {
  expect(next([older, younger], ["2026-11-21T09:00:00Z"])).toEqual([
    ["2026-11-21T10:00:00.000Z", "a"],
    ["2026-11-22T09:00:00.000Z", "z"],
    ["2026-11-22T10:00:00.000Z", "a"],
  ]);
});

test("a queue slot at the current instant counts as past", () => {
  const rule = ruleOf({ times: ["12:00"] });

  expect(next([rule])[0]?.[0]).toBe("2026-11-21T12:00:00.000Z");
  expect(next([rule], [], new Date(NOW.getTime() - 1))[0]?.[0]).toBe("2026-11-20T12:00:00.000Z");
});

test("free queue slots are returned for at most one year from now", () => {
  const lastDay = { startsOn: "2027-11-20", endsOn: "2027-11-20" };

  expect(next([ruleOf({ ...lastDay, times: ["12:00"] })])).toEqual([
    ["2027-11-20T12:00:00.000Z", ruleOf({}).id],
  ]);
  expect(next([ruleOf({ ...lastDay, times: ["12:01"] })])).toEqual([]);
  expect(slotHorizon(new Date("2028-02-29T12:00:00Z"))).toEqual(new Date("2029-03-01T12:00:00Z"));
});

test("the queue slots of a rule end with the last date of the rule", () => {
  expect(next([ruleOf({ endsOn: "2026-11-22" })]).map(([at]) => at)).toEqual([
    "2026-11-21T09:00:00.000Z",
    "2026-11-22T09:00:00.000Z",
  ]);
  expect(next([ruleOf({ endsOn: "2026-11-20" })])).toEqual([]);
});

test("no free queue slots are returned when no rule is active", () => {
  expect(next([])).toEqual([]);
  expect(next([ruleOf({ status: "paused" })])).toEqual([]);
});

test("no free queue slots are returned when all slots are taken", () => {
  const rule = ruleOf({});
  const range = { after: NOW, until: slotHorizon(NOW) };
  const taken = new Set(slotInstants(rule, range));

  expect(taken.size).toBe(365);
  expect(nextFreeSlots([rule], { after: NOW, taken, count: 1 })).toEqual([]);
});

const rule = fc.record({
  id: fc.uuid(),
  status: fc.constantFrom("active" as const, "active" as const, "paused" as const),
  createdAt: fc.integer({ min: 0, max: 3 }).map((at) => new Date(at)),
  weekdays: fc.subarray([...WEEKDAYS], { minLength: 1 }),
  times: fc.subarray(["00:00", "01:00", "02:00", "02:30", "03:00", "12:00"], { minLength: 1 }),
  timezone: fc.constantFrom("UTC", "Europe/Berlin", "Europe/London", "Australia/Lord_Howe"),
  startsOn: fc.constantFrom(null, "2027-03-27"),
  endsOn: fc.constantFrom(null, "2027-03-29"),
});
const rules = fc.uniqueArray(rule, { maxLength: 5, selector: ({ id }) => id });
// The tested period contains the week in which the clocks of Berlin and London change.
const range = {
  after: new Date("2027-03-25T00:00:00Z"),
  until: new Date("2027-04-01T00:00:00Z"),
};

test("the free queue slots are the instants of all active rules that are not taken, each instant once", () => {
  fc.assert(
    fc.property(rules, fc.infiniteStream(fc.boolean()), (given, isTaken) => {
      const active = given.filter(({ status }) => status === "active");
      const all = new Set(active.flatMap((each) => [...slotInstants(each, range)]));
      const taken = new Set([...all].filter(() => isTaken.next().value));
      const expected = [...all.difference(taken)].toSorted((a, b) => a - b);

      const slots = freeSlots(given, range, taken).toArray();

      expect(slots.map(({ slotAt }) => slotAt.getTime())).toEqual(expected);
    }),
  );
});

test("a queue slot belongs to the oldest active rule that creates a slot at the same time", () => {
  fc.assert(
    fc.property(rules, (given) => {
      for (const { slotAt, ruleId } of freeSlots(given, range, NONE)) {
        const owners = given
          .filter(({ status }) => status === "active")
          .filter((each) => slotInstants(each, range).some((at) => at === slotAt.getTime()));
        const owner = owners.find(({ id }) => id === ruleId);
        const ages = owners.map(({ createdAt }) => createdAt.getTime());
        expect(owner?.createdAt.getTime()).toBe(Math.min(...ages));
      }
    }),
  );
});

test("taking the first free queue slot repeatedly returns all slots in order", () => {
  fc.assert(
    fc.property(rules, (given) => {
      const taken = new Set<number>();
      for (const { slotAt } of freeSlots(given, range, NONE).take(20).toArray()) {
        const [first] = nextFreeSlots(given, { after: range.after, taken, count: 1 });
        expect(first?.slotAt).toEqual(slotAt);
        taken.add(slotAt.getTime());
      }
    }),
  );
});
