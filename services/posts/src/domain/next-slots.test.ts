import fc from "fast-check";
import { expect, test } from "vitest";
import { firstFreeSlots, nextFreeSlots, slotHorizon } from "#src/domain/next-slots.ts";
import { type QueueSlotRule, WEEKDAYS } from "#src/domain/queue-slot-rule.ts";
import { createTakenSlots, slotOf, slotsByDay } from "#src/domain/slot-times.ts";
import { findZoneClock } from "#src/domain/zone-clock.ts";

const NOW = new Date("2026-11-20T12:00:00.000Z");

/** Runs a search to its end. */
function finish<T>(steps: Iterator<void, T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

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

/** Returns the next three free slots of all rules, each with its rule. */
function next(
  rules: readonly QueueSlotRule[],
  taken: readonly string[] = [],
  after = NOW,
): [string, string][] {
  const slots = createTakenSlots(taken.map((text) => Date.parse(text)));
  const found = finish(firstFreeSlots(rules, { after, taken: slots, count: 3 }));
  return found.map(({ slotAt, ruleId }) => [slotAt.toISOString(), ruleId]);
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
  const all = slotsByDay(rule, range).flatMap((day) => day.minutes.map((at) => slotOf(day, at)));
  const slots = [...all];
  const taken = createTakenSlots(slots);

  expect(slots).toHaveLength(365);
  expect(finish(firstFreeSlots([rule], { after: NOW, taken, count: 3 }))).toEqual([]);
  expect(finish(nextFreeSlots([rule], { after: NOW, taken, count: 3 }))).toEqual([[]]);
});

test("the next slots of each rule are found as if there was no other rule, and a rule that is not active has none", () => {
  const paused = { ...older, status: "paused" as const };
  const taken = createTakenSlots([Date.parse("2026-11-21T09:00:00Z")]);

  const slots = finish(
    nextFreeSlots([younger, paused, older, older], { after: NOW, taken, count: 2 }),
  );

  const ofOlder = [new Date("2026-11-22T09:00:00.000Z"), new Date("2026-11-23T09:00:00.000Z")];
  expect(slots).toEqual([
    [new Date("2026-11-21T10:00:00.000Z"), new Date("2026-11-22T09:00:00.000Z")],
    [],
    ofOlder,
    ofOlder,
  ]);
});

/** What the search is compared with: all instants of all active rules, merged one by one. */
function findBySort(
  rules: readonly QueueSlotRule[],
  { after, taken }: { readonly after: Date; readonly taken: ReadonlySet<number> },
) {
  const owners = new Map<number, QueueSlotRule>();
  for (const rule of rules.filter(({ status }) => status === "active"))
    for (const at of instantsOf(rule, after)) {
      const owner = owners.get(at);
      if (owner === undefined || isOlder(rule, owner)) owners.set(at, rule);
    }
  return [...owners].filter(([at]) => !taken.has(at)).toSorted(([a], [b]) => a - b);
}

function isOlder(a: QueueSlotRule, b: QueueSlotRule): boolean {
  const [ageA, ageB] = [a.createdAt.getTime(), b.createdAt.getTime()];
  return ageA === ageB ? a.id < b.id : ageA < ageB;
}

const DAY_MS = 24 * 3_600_000;

/**
 * Computes the instants of a rule from the definition: time by time, for all local dates that may
 * be in the range.
 */
function instantsOf({ timezone, weekdays, times, startsOn, endsOn }: QueueSlotRule, after: Date) {
  const clock = findZoneClock(timezone);
  const until = slotHorizon(after).getTime();
  const instants = new Set<number>();
  const firstDay = Math.floor(after.getTime() / DAY_MS) * DAY_MS - DAY_MS;
  for (let day = firstDay; day <= until + DAY_MS; day += DAY_MS) {
    const date = new Date(day);
    const weekday = WEEKDAYS[(date.getUTCDay() + 6) % 7];
    const text = date.toISOString().slice(0, 10);
    if (weekday === undefined || !weekdays.includes(weekday)) continue;
    if ((startsOn !== null && text < startsOn) || (endsOn !== null && text > endsOn)) continue;
    for (const time of times) {
      const [hours, minutes] = time.split(":").map(Number);
      const at = clock?.instantOf(day, ((hours ?? 0) * 60 + (minutes ?? 0)) * 60_000) ?? 0;
      if (at > after.getTime() && at <= until) instants.add(at);
    }
  }
  return instants;
}

const rule = fc.record({
  id: fc.uuid(),
  status: fc.constantFrom("active" as const, "active" as const, "paused" as const),
  createdAt: fc.integer({ min: 0, max: 3 }).map((at) => new Date(at)),
  weekdays: fc.subarray([...WEEKDAYS], { minLength: 1 }),
  times: fc.subarray(["00:00", "01:00", "02:00", "02:30", "03:00", "12:00", "23:15"], {
    minLength: 1,
  }),
  timezone: fc.constantFrom(
    "UTC",
    "Europe/Berlin",
    "Europe/London",
    "Australia/Lord_Howe",
    "America/Nuuk",
    "Africa/Casablanca",
  ),
  startsOn: fc.constantFrom(null, null, "2027-03-27"),
  endsOn: fc.constantFrom(null, null, "2027-03-29", "2026-03-29"),
});
/** Rules of which some have the timetable of another one, and thus create the same slots. */
const rules = fc
  .record({
    given: fc.uniqueArray(rule, { maxLength: 5, selector: ({ id }) => id }),
    twins: fc.infiniteStream(fc.nat({ max: 9 })),
  })
  .map(({ given, twins }) =>
    given.map((one) => {
      const { weekdays, times, timezone, startsOn, endsOn } = given[twins.next().value ?? 9] ?? one;
      return { ...one, weekdays, times, timezone, startsOn, endsOn };
    }),
  );
const scene = fc.record({
  given: rules,
  // The search begins before, at and after changes of the clocks.
  after: fc.constantFrom(
    "2026-03-27T23:15:00Z",
    "2026-03-29T00:59:59.999Z",
    "2026-11-20T12:00:00Z",
    "2027-03-28T01:00:00Z",
    "2028-02-29T00:00:00Z",
  ),
  /** How many of the first slots are taken, and the part of the later ones that is taken, of 8. */
  dense: fc.oneof(fc.constant(0), fc.nat({ max: 2000 }), fc.constant(Infinity)),
  sparse: fc.nat({ max: 7 }),
  count: fc.integer({ min: 1, max: 32 }),
  seed: fc.infiniteStream(fc.nat({ max: 7 })),
  // Taken slots of rules that were changed or deleted meanwhile.
  strange: fc.array(
    fc.date({ min: new Date("2026-03-01"), max: new Date("2029-03-01"), noInvalidDate: true }),
    { maxLength: 3 },
  ),
});

test("a search finds the same slots as a merge of all instants of all rules, whichever slots are taken", () => {
  fc.assert(
    fc.property(scene, ({ given, dense, sparse, seed, strange, count, ...rest }) => {
      const after = new Date(rest.after);
      const all = findBySort(given, { after, taken: new Set() });
      const taken = new Set(
        all
          .filter((_, index) => index < dense || (seed.next().value ?? 0) < sparse)
          .map(([at]) => at),
      );
      for (const date of strange) taken.add(date.getTime());
      const slots = createTakenSlots([...taken]);

      const first = findBySort(given, { after, taken }).slice(0, count);
      const found = finish(firstFreeSlots(given, { after, taken: slots, count }));
      expect(found).toEqual(first.map(([at, { id }]) => ({ slotAt: new Date(at), ruleId: id })));

      const shown = finish(nextFreeSlots(given, { after, taken: slots, count: 3 }));
      const each = given.map((one) => findBySort([one], { after, taken }).slice(0, 3));
      expect(shown).toEqual(each.map((free) => free.map(([at]) => new Date(at))));
    }),
  );
});
