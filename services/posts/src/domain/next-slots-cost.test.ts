import { expect, test } from "vitest";
import { firstFreeSlots, nextFreeSlots } from "#src/domain/next-slots.ts";
import { type QueueSlotRule, WEEKDAYS } from "#src/domain/queue-slot-rule.ts";
import { createTakenSlots } from "#src/domain/slot-times.ts";

const NOW = new Date("2026-11-20T12:00:00.000Z");
const HALF_HOUR_MS = 30 * 60_000;
/** Maximum number of rules of a workspace and of times of a rule. */
const [MAX_RULES, MAX_TIMES] = [100, 48];
/** Number of queued posts that a quota of 1,000 posts a month allows over a year. */
const TAKEN = 12_000;

const TIMES = Array.from({ length: MAX_TIMES }, (_, index) =>
  new Date(index * HALF_HOUR_MS).toISOString().slice(11, 16),
);

/**
 * Returns the maximum number of rules, each with a slot every half hour, in the given time zones.
 */
function createRules(timezones: readonly string[]): readonly QueueSlotRule[] {
  return Array.from({ length: MAX_RULES }, (_, index) => ({
    id: `0198c2f0-0000-7000-8000-${String(index).padStart(12, "0")}`,
    status: "active",
    createdAt: new Date(index),
    weekdays: WEEKDAYS,
    times: TIMES,
    timezone: timezones[index % timezones.length] ?? "UTC",
    startsOn: null,
    endsOn: null,
  }));
}

/**
 * Names of time zones whose offsets from UTC are multiples of half an hour, so that all rules
 * create the same slots.
 */
const TIMEZONES = Intl.supportedValuesOf("timeZone").filter((timeZone) => {
  const format = new Intl.DateTimeFormat("en", { timeZone, minute: "2-digit" });
  return ["2026-12-01", "2027-07-01"].every(
    (day) => Number(format.format(Date.parse(day))) % 30 === 0,
  );
});

const taken = createTakenSlots(
  Array.from({ length: TAKEN }, (_, index) => NOW.getTime() + (index + 1) * HALF_HOUR_MS),
);
const expected = new Date(NOW.getTime() + (TAKEN + 1) * HALF_HOUR_MS);

/** Runs a search; returns its result and the time in milliseconds of each step. */
function run<T>(steps: Iterator<void, T>) {
  const stepsMs: number[] = [];
  for (;;) {
    const before = performance.now();
    const step = steps.next();
    stepsMs.push(performance.now() - before);
    if (step.done === true) return { value: step.value, stepsMs };
  }
}

/**
 * Returns the time of a search and of its longest step. Of several searches the shortest time of
 * each step counts, because compilation and other work on the machine only make it longer.
 */
function measure(search: () => Iterator<void, unknown>) {
  const runs = Array.from({ length: 10 }, () => run(search()).stepsMs);
  const [first = []] = runs;
  const steps = first.map((_, index) => Math.min(...runs.map((stepsMs) => stepsMs[index] ?? 0)));
  return { totalMs: steps.reduce((sum, ms) => sum + ms, 0), longestMs: Math.max(...steps) };
}

const SCENES: readonly [string, readonly QueueSlotRule[], number][] = [
  ["with the same timetable", createRules(["UTC"]), 10],
  ["in 100 time zones", createRules(TIMEZONES), 50],
];

test.each(SCENES)(
  "searching the free slots of 100 rules %s and 12,000 taken slots takes little processor time, in steps of less than a millisecond",
  (_name, rules, maxMs) => {
    const [next, list] = [
      () => firstFreeSlots(rules, { after: NOW, taken, count: 32 }),
      () => nextFreeSlots(rules, { after: NOW, taken, count: 3 }),
    ];
    expect(run(next()).value[0]).toEqual({ slotAt: expected, ruleId: rules[0]?.id });
    expect(run(list()).value.map(([first]) => first)).toEqual(rules.map(() => expected));
    for (const search of [next, list]) {
      const { totalMs, longestMs } = measure(search);
      expect(totalMs).toBeLessThan(maxMs);
      expect(longestMs).toBeLessThan(1);
    }
  },
);
