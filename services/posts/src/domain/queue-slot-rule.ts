import type { Violation } from "@postrider/shared/errors";
import { findZoneClock } from "./zone-clock.ts";

export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

export type Weekday = (typeof WEEKDAYS)[number];

/** A `paused` rule creates no slots; a `revoked` rule was deleted. */
export type QueueSlotRuleStatus = "active" | "paused" | "revoked";

/** Without those that are revoked. */
export const MAX_RULES_PER_WORKSPACE = 100;
const MAX_TIMES = 48;

/** In the wall-clock time of the time zone. */
export interface SlotTimetable {
  readonly weekdays: readonly Weekday[];
  /** Times of day as `HH:MM`, from `00:00` to `23:59`. */
  readonly times: readonly string[];
  /** The name of a time zone in the IANA time zone database. */
  readonly timezone: string;
  /** The first local date with slots, `YYYY-MM-DD`; null for no first date. */
  readonly startsOn: string | null;
  /** The last local date with slots, `YYYY-MM-DD`; null for no last date. */
  readonly endsOn: string | null;
}

export interface QueueSlotRule extends SlotTimetable {
  readonly id: string;
  readonly status: QueueSlotRuleStatus;
  readonly createdAt: Date;
}

export type SlotTimetableInput = Omit<SlotTimetable, "weekdays"> & {
  readonly weekdays: readonly string[];
};

const KNOWN_WEEKDAYS: ReadonlySet<string> = new Set(WEEKDAYS);
const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Paths are JSON Pointers into the request. */
export function checkSlotTimetable(input: SlotTimetableInput): Violation[] {
  return [
    ...checkDistinct("/weekdays", input.weekdays, WEEKDAYS.length, (day) =>
      KNOWN_WEEKDAYS.has(day),
    ),
    ...checkDistinct("/times", input.times, MAX_TIMES, (time) => TIME.test(time)),
    ...checkTimezone(input.timezone),
    ...checkPeriod(input),
  ];
}

/**
 * Sorts weekdays from Monday and times from midnight, because the order that a client sends has no
 * meaning.
 */
export function normalizeSlotTimetable(input: SlotTimetableInput): SlotTimetable {
  const { times, timezone, startsOn, endsOn } = input;
  const weekdays = WEEKDAYS.filter((day) => input.weekdays.includes(day));
  return { weekdays, times: times.toSorted(), timezone, startsOn, endsOn };
}

/** A second occurrence of a value would have no effect. */
function checkDistinct(
  path: string,
  values: readonly string[],
  limit: number,
  isValid: (value: string) => boolean,
): Violation[] {
  if (values.length === 0) return [{ code: "invalid", path }];
  if (values.length > limit) return [{ code: "invalid", path, limit, actual: values.length }];
  return values.flatMap((value, index) =>
    isValid(value) && values.indexOf(value) === index
      ? []
      : [{ code: "invalid", path: `${path}/${index}` }],
  );
}

function checkTimezone(timezone: string): Violation[] {
  return findZoneClock(timezone) === undefined
    ? [{ code: "unknown_timezone", path: "/timezone" }]
    : [];
}

function checkPeriod({ startsOn, endsOn }: SlotTimetableInput): Violation[] {
  const faults: Violation[] = [];
  if (startsOn !== null && !isDate(startsOn)) faults.push({ code: "invalid", path: "/startsOn" });
  if (endsOn !== null && !isDate(endsOn)) faults.push({ code: "invalid", path: "/endsOn" });
  if (faults.length > 0 || startsOn === null || endsOn === null) return faults;
  // Dates in the form `YYYY-MM-DD` sort in the order of time, so they are compared as text.
  return endsOn < startsOn ? [{ code: "ends_before_start", path: "/endsOn" }] : [];
}

function isDate(text: string): boolean {
  // Postgres has no year 0, so a date with the year 0000 is invalid.
  if (!DATE.test(text) || text.startsWith("0000")) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}
