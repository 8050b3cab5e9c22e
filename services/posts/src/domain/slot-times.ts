import { type SlotTimetable, WEEKDAYS } from "./queue-slot-rule.ts";
import { DAY_MS, findZoneClock, MINUTE_MS } from "./zone-clock.ts";

/**
 * A time range for which queue slots are computed: later than `after`, up to and including `until`. Adjacent ranges
 * neither share nor miss an instant.
 */
export interface SlotRange {
  readonly after: Date;
  readonly until: Date;
}

/**
 * Yields the queue slots of a timetable in a time range, in milliseconds since 1970 and strictly increasing. A time
 * that a clock change skips moves to the moment of the change. A time that occurs twice creates a slot only at its
 * first occurrence. Equal instants are yielded once. Weekday, `startsOn` and `endsOn` apply to the local date of the
 * timetable, even if a skipped time moves to the next day.
 *
 * @throws RangeError for an unknown time zone, which `checkSlotTimetable` has to exclude.
 */
export function* slotInstants(
  timetable: SlotTimetable,
  range: SlotRange,
): Generator<number, undefined> {
  const clock = findZoneClock(timetable.timezone);
  if (clock === undefined) throw new RangeError(`unknown time zone ${timetable.timezone}`);
  const times = timetable.times.map(timeOfDay).toSorted((a, b) => a - b);
  const until = range.until.getTime();
  let last = range.after.getTime();
  for (const day of slotDays(timetable, range))
    for (const time of times) {
      // The slots of a timetable are in order of time, so all later slots are after the range, too.
      const at = clock.instantOf(day, time);
      if (at > until) return;
      if (at <= last) continue;
      last = at;
      yield at;
    }
}

/**
 * Yields the local dates that can have a queue slot in a time range. Local dates differ from UTC dates by less than a
 * day.
 */
function* slotDays(timetable: SlotTimetable, { after, until }: SlotRange): Generator<number> {
  const { startsOn, endsOn } = timetable;
  const weekdays = new Set(timetable.weekdays.map((weekday) => WEEKDAYS.indexOf(weekday)));
  const first = Math.max(
    dayOf(after.getTime()) - DAY_MS,
    startsOn === null ? -Infinity : Date.parse(startsOn),
  );
  const last = Math.min(
    dayOf(until.getTime()) + DAY_MS,
    endsOn === null ? Infinity : Date.parse(endsOn),
  );
  for (let day = first; day <= last; day += DAY_MS) if (weekdays.has(weekdayOf(day))) yield day;
}

function dayOf(instantMs: number): number {
  return Math.floor(instantMs / DAY_MS) * DAY_MS;
}

/** Returns the weekday of a date as a number, 0 for Monday. 1 January 1970 was a Thursday. */
function weekdayOf(dayMs: number): number {
  const days = (dayMs / DAY_MS + 3) % WEEKDAYS.length;
  return days < 0 ? days + WEEKDAYS.length : days;
}

/** Converts a time of day as `HH:MM` to milliseconds since midnight. */
function timeOfDay(time: string): number {
  return (Number(time.slice(0, 2)) * 60 + Number(time.slice(3))) * MINUTE_MS;
}
