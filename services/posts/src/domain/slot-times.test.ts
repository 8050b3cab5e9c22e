import fc from "fast-check";
import { expect, test } from "vitest";
import { type SlotTimetable, WEEKDAYS, type Weekday } from "./queue-slot-rule.ts";
import { slotOf, slotsByDay, type SlotRange } from "./slot-times.ts";

const ALWAYS = { weekdays: WEEKDAYS, startsOn: null, endsOn: null };

function slotInstants(timetable: SlotTimetable, range: SlotRange) {
  return slotsByDay(timetable, range).flatMap((day) => day.minutes.map((at) => slotOf(day, at)));
}

function slotsOf(timetable: SlotTimetable, after: string, until: string): string[] {
  const range = { after: new Date(after), until: new Date(until) };
  return slotInstants(timetable, range)
    .map((at) => new Date(at).toISOString())
    .toArray();
}

test("queue slots of a rule in Berlin are at local time in winter", () => {
  const timetable = { ...ALWAYS, weekdays: ["mon", "fri"], timezone: "Europe/Berlin" } as const;

  expect(
    slotsOf(
      { ...timetable, times: ["18:00", "09:30"] },
      "2026-11-20T08:30:00Z",
      "2026-11-27T08:30:00Z",
    ),
  ).toEqual([
    "2026-11-20T17:00:00.000Z",
    "2026-11-23T08:30:00.000Z",
    "2026-11-23T17:00:00.000Z",
    "2026-11-27T08:30:00.000Z",
  ]);
});

test("queue slots of a rule in Seoul are at local time, even when the date in UTC is still the day before", () => {
  const timetable = { ...ALWAYS, weekdays: ["mon"], timezone: "Asia/Seoul" } as const;

  expect(
    slotsOf({ ...timetable, times: ["08:00"] }, "2026-11-20T00:00:00Z", "2026-12-01T00:00:00Z"),
  ).toEqual(["2026-11-22T23:00:00.000Z", "2026-11-29T23:00:00.000Z"]);
});

test("queue slots of a rule in New York are at the same local time before and after both clock changes", () => {
  const timetable = { ...ALWAYS, weekdays: ["sun"], timezone: "America/New_York" } as const;

  expect(
    slotsOf({ ...timetable, times: ["09:00"] }, "2026-10-24T00:00:00Z", "2026-11-03T00:00:00Z"),
  ).toEqual(["2026-10-25T13:00:00.000Z", "2026-11-01T14:00:00.000Z"]);
  expect(
    slotsOf({ ...timetable, times: ["09:00"] }, "2027-03-06T00:00:00Z", "2027-03-16T00:00:00Z"),
  ).toEqual(["2027-03-07T14:00:00.000Z", "2027-03-14T13:00:00.000Z"]);
});

test.each<[string, string, string[], string[]]>([
  [
    "Europe/Berlin",
    "2027-03-28",
    ["01:59", "02:00", "02:30", "02:59", "03:00", "03:01"],
    ["2027-03-28T00:59:00.000Z", "2027-03-28T01:00:00.000Z", "2027-03-28T01:01:00.000Z"],
  ],
  [
    "America/New_York",
    "2027-03-14",
    ["02:30", "03:30"],
    ["2027-03-14T07:00:00.000Z", "2027-03-14T07:30:00.000Z"],
  ],
  // In this time zone the clock changes by half an hour.
  [
    "Australia/Lord_Howe",
    "2026-10-04",
    ["01:59", "02:15", "02:45"],
    ["2026-10-03T15:29:00.000Z", "2026-10-03T15:30:00.000Z", "2026-10-03T15:45:00.000Z"],
  ],
  // On these days the clock of the time zone skips midnight.
  [
    "America/Sao_Paulo",
    "2018-11-04",
    ["00:00", "00:30", "01:30"],
    ["2018-11-04T03:00:00.000Z", "2018-11-04T03:30:00.000Z"],
  ],
  [
    "Asia/Beirut",
    "2026-03-29",
    ["00:00", "01:01"],
    ["2026-03-28T22:00:00.000Z", "2026-03-28T22:01:00.000Z"],
  ],
  // In this time zone the clock changes at the end of Ramadan.
  [
    "Africa/Casablanca",
    "2026-03-22",
    ["01:30", "02:30", "03:30"],
    ["2026-03-22T01:30:00.000Z", "2026-03-22T02:00:00.000Z", "2026-03-22T02:30:00.000Z"],
  ],
  // The last hour of Saturday is skipped in this time zone, so the next instant is on Sunday.
  [
    "America/Nuuk",
    "2026-03-28",
    ["22:30", "23:00", "23:30"],
    ["2026-03-29T00:30:00.000Z", "2026-03-29T01:00:00.000Z"],
  ],
  // The whole Friday is skipped, because Samoa moved across the date line.
  ["Pacific/Apia", "2011-12-30", ["00:00", "09:00", "23:59"], ["2011-12-30T10:00:00.000Z"]],
])(
  "a queue-slot time that a clock change skips in %s on %s moves to the moment of the change",
  (timezone, day, times, expected) => {
    const timetable = { ...ALWAYS, times, timezone, startsOn: day, endsOn: day };

    expect(slotsOf(timetable, "2011-01-01T00:00:00Z", "2028-01-01T00:00:00Z")).toEqual(expected);
  },
);

test("a queue-slot time that a clock change skips and moves to an existing slot creates no second slot, even on the next day", () => {
  const nuuk = { ...ALWAYS, timezone: "America/Nuuk", times: ["00:00", "23:15"] };
  expect(slotsOf(nuuk, "2026-03-28T12:00:00Z", "2026-03-29T12:00:00Z")).toEqual([
    "2026-03-29T01:00:00.000Z",
  ]);

  const apia = { ...ALWAYS, timezone: "Pacific/Apia", times: ["00:00", "12:00"] };
  expect(slotsOf(apia, "2011-12-29T12:00:00Z", "2011-12-31T00:00:00Z")).toEqual([
    "2011-12-29T22:00:00.000Z",
    "2011-12-30T10:00:00.000Z",
    "2011-12-30T22:00:00.000Z",
  ]);
});

test.each<[string, string, string[], string[]]>([
  [
    "Europe/Berlin",
    "2026-10-25",
    ["02:00", "02:30", "03:00"],
    ["2026-10-25T00:00:00.000Z", "2026-10-25T00:30:00.000Z", "2026-10-25T02:00:00.000Z"],
  ],
  ["America/New_York", "2026-11-01", ["01:30"], ["2026-11-01T05:30:00.000Z"]],
  [
    "Australia/Lord_Howe",
    "2027-04-04",
    ["01:29", "01:45", "02:00"],
    ["2027-04-03T14:29:00.000Z", "2027-04-03T14:45:00.000Z", "2027-04-03T15:30:00.000Z"],
  ],
  // In this time zone the last hour of the day occurs twice.
  ["America/Sao_Paulo", "2018-02-17", ["23:30"], ["2018-02-18T01:30:00.000Z"]],
  ["Africa/Casablanca", "2026-02-15", ["02:30"], ["2026-02-15T01:30:00.000Z"]],
])(
  "a queue-slot time that occurs twice in %s on %s creates a slot only at its first occurrence",
  (timezone, day, times, expected) => {
    const timetable = { ...ALWAYS, times, timezone, startsOn: day, endsOn: day };

    expect(slotsOf(timetable, "2011-01-01T00:00:00Z", "2028-01-01T00:00:00Z")).toEqual(expected);
  },
);

test("when a local time occurs twice because clocks go back, a range that begins between its two occurrences contains no queue slot at that time", () => {
  const timetable = { ...ALWAYS, timezone: "Europe/Berlin", times: ["02:30"] };

  expect(slotsOf(timetable, "2026-10-25T01:00:00Z", "2026-10-26T12:00:00Z")).toEqual([
    "2026-10-26T01:30:00.000Z",
  ]);
});

const timetable = { ...ALWAYS, timezone: "UTC", times: ["12:00"] };

test("the range for which queue slots are computed excludes its first instant and includes its last", () => {
  expect(slotsOf(timetable, "2026-11-20T12:00:00.000Z", "2026-11-21T12:00:00.000Z")).toEqual([
    "2026-11-21T12:00:00.000Z",
  ]);
  expect(slotsOf(timetable, "2026-11-20T11:59:59.999Z", "2026-11-21T11:59:59.999Z")).toEqual([
    "2026-11-20T12:00:00.000Z",
  ]);
});

test("an empty range of instants has no queue slots", () => {
  expect(slotsOf(timetable, "2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z")).toEqual([]);
  expect(slotsOf(timetable, "2026-11-21T12:00:00Z", "2026-11-20T12:00:00Z")).toEqual([]);
});

test("queue slots are also created on the first and the last local date of the timetable", () => {
  const timetable = {
    ...ALWAYS,
    timezone: "Pacific/Kiritimati",
    times: ["00:00", "23:59"],
    startsOn: "2026-12-01",
    endsOn: "2026-12-02",
  };

  expect(slotsOf(timetable, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z")).toEqual([
    "2026-11-30T10:00:00.000Z",
    "2026-12-01T09:59:00.000Z",
    "2026-12-01T10:00:00.000Z",
    "2026-12-02T09:59:00.000Z",
  ]);
});

test("slotsByDay throws for an unknown time zone", () => {
  const timetable = { ...ALWAYS, timezone: "Mars/Olympus", times: ["12:00"] };

  expect(() => slotsOf(timetable, "2026-11-20T12:00:00Z", "2026-11-21T12:00:00Z")).toThrow(
    "unknown time zone Mars/Olympus",
  );
});

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const walls = new Map<string, { format: Intl.DateTimeFormat; at: Map<number, number> }>();

/**
 * Returns the local time at an instant, as if it were UTC. It is computed in another way than the
 * tested code does.
 */
function wallAt(timeZone: string, at: number): number {
  const wall = walls.get(timeZone) ?? {
    format: new Intl.DateTimeFormat("sv-SE", {
      timeZone,
      dateStyle: "short",
      timeStyle: "medium",
    }),
    at: new Map<number, number>(),
  };
  walls.set(timeZone, wall);
  const shown = wall.at.get(at) ?? Date.parse(`${wall.format.format(at).replace(" ", "T")}Z`);
  wall.at.set(at, shown);
  return shown;
}

const SUNDAY_FIRST: readonly (Weekday | undefined)[] = ["sun", ...WEEKDAYS];

function minuteOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

function isMeant({ weekdays, times, startsOn, endsOn }: SlotTimetable, wall: number): boolean {
  const shown = new Date(wall);
  const minute = shown.getUTCHours() * 60 + shown.getUTCMinutes();
  // Formatting a date is slow, and most minutes are not in the timetable, so they are skipped
  // early.
  if (!times.some((time) => minuteOf(time) === minute)) return false;
  const text = shown.toISOString();
  const date = text.slice(0, 10);
  const weekday = SUNDAY_FIRST[shown.getUTCDay()];
  return (
    weekdays.some((name) => name === weekday) &&
    (startsOn === null || date >= startsOn) &&
    (endsOn === null || date <= endsOn)
  );
}

/**
 * Clock changes in several time zones: by an hour, half an hour or a day, at or before midnight,
 * forward and back.
 */
const changes: [string, string][] = [
  ["Europe/Berlin", "2027-03-28T01:00:00Z"],
  ["Europe/Berlin", "2026-10-25T01:00:00Z"],
  ["America/New_York", "2027-03-14T07:00:00Z"],
  ["Asia/Seoul", "2026-11-20T12:00:00Z"],
  ["Australia/Lord_Howe", "2026-10-03T15:30:00Z"],
  ["Australia/Lord_Howe", "2027-04-03T15:00:00Z"],
  ["Pacific/Apia", "2011-12-30T10:00:00Z"],
  ["America/Sao_Paulo", "2018-11-04T03:00:00Z"],
  ["America/Sao_Paulo", "2019-02-17T02:00:00Z"],
  ["Asia/Beirut", "2026-03-28T22:00:00Z"],
  ["Africa/Casablanca", "2026-02-15T02:00:00Z"],
  ["America/Nuuk", "2026-03-29T01:00:00Z"],
  ["America/Nuuk", "2026-10-25T01:00:00Z"],
  ["Antarctica/Troll", "2027-03-28T01:00:00Z"],
];

const minuteOfDay = fc
  .oneof(fc.integer({ min: 0, max: 1439 }), fc.integer({ min: 0, max: 239 }), fc.constant(1410))
  .map((minutes) => new Date(minutes * MINUTE).toISOString().slice(11, 16));

const situation = fc
  .record({
    change: fc.constantFrom(...changes),
    weekdays: fc.subarray([...WEEKDAYS], { minLength: 1 }),
    times: fc.uniqueArray(minuteOfDay, { minLength: 1, maxLength: 48 }),
    startsIn: fc.option(fc.integer({ min: -3, max: 1 })),
    endsIn: fc.option(fc.integer({ min: 0, max: 3 })),
    beforeMs: fc.integer({ min: 0, max: 2 * DAY }),
    lengthMs: fc.integer({ min: 0, max: 4 * DAY }),
  })
  .map(({ change: [timezone, text], startsIn, endsIn, beforeMs, lengthMs, weekdays, times }) => {
    const change = Date.parse(text);
    const dateIn = (days: number | null) =>
      days === null ? null : new Date(change + days * DAY).toISOString().slice(0, 10);
    return {
      timetable: {
        weekdays,
        times,
        timezone,
        startsOn: dateIn(startsIn),
        endsOn: dateIn(endsIn),
      },
      after: change - beforeMs,
      until: change - beforeMs + lengthMs,
    };
  });

const between = (timetable: SlotTimetable, after: number, until: number): number[] =>
  slotInstants(timetable, { after: new Date(after), until: new Date(until) }).toArray();

test("queue slots are the minutes at which the local clock first shows or passes a time of the timetable", () => {
  fc.assert(
    fc.property(situation, ({ timetable, after, until }) => {
      const expected: number[] = [];
      let passed = Number.NEGATIVE_INFINITY;
      const first = Math.floor(after / MINUTE) * MINUTE - DAY;
      for (let at = first; at <= until; at += MINUTE) {
        const wall = wallAt(timetable.timezone, at);
        const from = Math.max(passed + MINUTE, wall - DAY);
        for (let shown = from; shown <= wall; shown += MINUTE)
          if (at > after && isMeant(timetable, shown) && expected.at(-1) !== at) expected.push(at);

        passed = Math.max(passed, wall);
      }
      expect(between(timetable, after, until)).toEqual(expected);
    }),
  );
});

test("queue slots are strictly increasing and within the range for which they are computed", () => {
  fc.assert(
    fc.property(situation, ({ timetable, after, until }) => {
      let last = after;
      for (const at of between(timetable, after, until)) {
        expect(at).toBeGreaterThan(last);
        expect(at).toBeLessThanOrEqual(until);
        last = at;
      }
    }),
  );
});

test("the local clock shows a time of the timetable at each queue slot, unless the clock has just skipped that time", () => {
  fc.assert(
    fc.property(situation, ({ timetable, after, until }) => {
      for (const at of between(timetable, after, until)) {
        const wall = wallAt(timetable.timezone, at);
        const jumpedMs = wall - wallAt(timetable.timezone, at - MINUTE) - MINUTE;
        expect(jumpedMs > 0 || isMeant(timetable, wall)).toBe(true);
      }
    }),
  );
});

test("a range of instants that is cut in two at any point has the same queue slots as the whole range", () => {
  fc.assert(
    fc.property(situation, fc.double({ min: 0, max: 1, noNaN: true }), (given, share) => {
      const { timetable, after, until } = given;
      const cut = Math.round(after + (until - after) * share);
      expect([...between(timetable, after, cut), ...between(timetable, cut, until)]).toEqual(
        between(timetable, after, until),
      );
      // The range is cut at queue slots, because there a cut is most likely to lose or repeat a
      // slot.
      for (const at of between(timetable, after, until).slice(0, 3))
        expect([...between(timetable, after, at), ...between(timetable, at, until)]).toEqual(
          between(timetable, after, until),
        );
    }),
  );
});
