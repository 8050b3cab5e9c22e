import fc from "fast-check";
import { expect, test } from "vitest";
import {
  checkSlotTimetable,
  normalizeSlotTimetable,
  type SlotTimetableInput,
  WEEKDAYS,
} from "./queue-slot-rule.ts";

const FINE: SlotTimetableInput = {
  weekdays: ["mon", "fri"],
  times: ["09:30", "18:00"],
  timezone: "Europe/Berlin",
  startsOn: null,
  endsOn: null,
};

const EVERY_HALF_HOUR = Array.from({ length: 48 }, (_, index) => {
  const hour = String(Math.floor(index / 2)).padStart(2, "0");
  return `${hour}:${index % 2 === 0 ? "00" : "30"}`;
});

test.each<[string, Partial<SlotTimetableInput>]>([
  ["with two weekdays and two times", {}],
  ["with every weekday", { weekdays: WEEKDAYS }],
  ["with 48 times", { times: EVERY_HALF_HOUR }],
  ["with the first and the last minute of a day", { times: ["00:00", "23:59"] }],
  ["in UTC", { timezone: "UTC" }],
  ["in a zone known by its old name", { timezone: "Asia/Calcutta" }],
  ["in a zone known by its new name", { timezone: "Asia/Kolkata" }],
  ["in a zone with three parts", { timezone: "America/Argentina/Ushuaia" }],
  ["in a zone with a historical name", { timezone: "EST5EDT" }],
  ["with a period of one day", { startsOn: "2026-11-21", endsOn: "2026-11-21" }],
  ["with a first date only", { startsOn: "2028-02-29" }],
  ["with a last date only", { endsOn: "2026-12-31" }],
])("a queue-slot timetable %s is valid", (_, change) => {
  expect(checkSlotTimetable({ ...FINE, ...change })).toEqual([]);
});

test.each<[string, Partial<SlotTimetableInput>, object]>([
  ["without a weekday", { weekdays: [] }, { code: "invalid", path: "/weekdays" }],
  [
    "with more weekdays than a week has",
    { weekdays: [...WEEKDAYS, "mon"] },
    { code: "invalid", path: "/weekdays", limit: 7, actual: 8 },
  ],
  ["with a weekday twice", { weekdays: ["mon", "mon"] }, { code: "invalid", path: "/weekdays/1" }],
  [
    "with an unknown weekday",
    { weekdays: ["mon", "Tue"] },
    { code: "invalid", path: "/weekdays/1" },
  ],
  ["without a time", { times: [] }, { code: "invalid", path: "/times" }],
  [
    "with 49 times",
    { times: [...EVERY_HALF_HOUR, "00:01"] },
    { code: "invalid", path: "/times", limit: 48, actual: 49 },
  ],
  ["with a time twice", { times: ["09:30", "09:30"] }, { code: "invalid", path: "/times/1" }],
  ["with hour 24", { times: ["24:00"] }, { code: "invalid", path: "/times/0" }],
  ["with minute 60", { times: ["09:60"] }, { code: "invalid", path: "/times/0" }],
  ["with a one-digit hour", { times: ["9:30"] }, { code: "invalid", path: "/times/0" }],
  ["with seconds", { times: ["09:30:00"] }, { code: "invalid", path: "/times/0" }],
  ["with a line break", { times: ["09:30\n"] }, { code: "invalid", path: "/times/0" }],
  [
    "with a day that does not exist",
    { startsOn: "2027-02-29" },
    { code: "invalid", path: "/startsOn" },
  ],
  ["with a date and time", { endsOn: "2027-02-28T00:00Z" }, { code: "invalid", path: "/endsOn" }],
  ["with a date in year 0", { startsOn: "0000-01-01" }, { code: "invalid", path: "/startsOn" }],
  [
    "that ends before it starts",
    { startsOn: "2026-11-21", endsOn: "2026-11-20" },
    { code: "ends_before_start", path: "/endsOn" },
  ],
])("a queue-slot timetable %s is rejected", (_, change, violation) => {
  expect(checkSlotTimetable({ ...FINE, ...change })).toEqual([violation]);
});

test.each([
  "",
  "Mars/Olympus",
  "+01:00",
  "GMT+1",
  "UTC+1",
  "IST",
  "pst",
  "SystemV/PST8",
  " UTC",
  "Asia/\u212aolkata",
])(
  "a queue-slot timetable in the time zone %j, which is not in the IANA database, is rejected",
  (timezone) => {
    expect(checkSlotTimetable({ ...FINE, timezone })).toEqual([
      { code: "unknown_timezone", path: "/timezone" },
    ]);
  },
);

test("all invalid values of a queue-slot timetable are reported at once", () => {
  const input = {
    weekdays: [],
    times: ["x"],
    timezone: "x",
    startsOn: "tomorrow",
    endsOn: "",
  };

  expect(checkSlotTimetable(input)).toEqual([
    { code: "invalid", path: "/weekdays" },
    { code: "invalid", path: "/times/0" },
    { code: "unknown_timezone", path: "/timezone" },
    { code: "invalid", path: "/startsOn" },
    { code: "invalid", path: "/endsOn" },
  ]);
});

test("a normalized queue-slot timetable lists weekdays from Monday on and times from midnight on", () => {
  const input = { ...FINE, weekdays: ["sun", "wed", "mon"], times: ["18:00", "00:00", "09:30"] };

  expect(normalizeSlotTimetable(input)).toEqual({
    weekdays: ["mon", "wed", "sun"],
    times: ["00:00", "09:30", "18:00"],
    timezone: "Europe/Berlin",
    startsOn: null,
    endsOn: null,
  });
});

test("normalizing a queue-slot timetable gives the same result for any order of its weekdays and times", () => {
  fc.assert(
    fc.property(
      fc.shuffledSubarray([...WEEKDAYS]),
      fc.shuffledSubarray(EVERY_HALF_HOUR),
      (weekdays, times) => {
        const reversed = { weekdays: weekdays.toReversed(), times: times.toReversed() };
        expect(normalizeSlotTimetable({ ...FINE, ...reversed })).toEqual(
          normalizeSlotTimetable({ ...FINE, weekdays, times }),
        );
      },
    ),
  );
});
