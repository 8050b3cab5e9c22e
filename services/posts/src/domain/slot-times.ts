import { type SlotTimetable, WEEKDAYS } from "#src/domain/queue-slot-rule.ts";
import { DAY_MS, findZoneClock, MINUTE_MS } from "#src/domain/zone-clock.ts";

/** Later than `after`, up to and including `until`: adjacent ranges neither share nor miss any. */
export interface SlotRange {
  readonly after: Date;
  readonly until: Date;
}

export interface SlotDay {
  /** An instant in milliseconds since 1970. */
  readonly startMs: number;
  /** After `startMs`. Days with the same slots share one list, so do not change it. */
  readonly minutes: readonly number[];
}

export function slotOf({ startMs }: SlotDay, minute: number): number {
  return startMs + Math.round(minute * MINUTE_MS);
}

/**
 * Strictly increasing. A time that a clock change skips moves to the moment of the change; one that
 * occurs twice counts once. Weekday, `startsOn` and `endsOn` apply to the local date of the
 * timetable, even if a skipped time moves to the next day. Throws RangeError for a zone that
 * `checkSlotTimetable` has to exclude.
 */
export function* slotsByDay(
  timetable: SlotTimetable,
  range: SlotRange,
): Generator<SlotDay, undefined> {
  const clock = findZoneClock(timetable.timezone);
  if (clock === undefined) throw new RangeError(`unknown time zone ${timetable.timezone}`);
  const minutes = timetable.times.map(minuteOfDay).toSorted((a, b) => a - b);
  const [first = 0, final = 0] = [minutes.at(0), minutes.at(-1)];
  const until = range.until.getTime();
  let last = range.after.getTime();
  for (const day of slotDays(timetable, range)) {
    const offset = clock.offsetOn(day);
    let slots: SlotDay = { startMs: day - (offset ?? 0), minutes };
    // On nearly all days the clock does not change and all slots are in the range. They cost
    // nothing per slot.
    if (offset === undefined || slotOf(slots, first) <= last || slotOf(slots, final) > until) {
      const instants = minutes.map((minute) => clock.instantOf(day, minute * MINUTE_MS));
      slots = toSlotDay(day, instants, { last, until });
    }
    last = Math.max(last, slotOf(slots, slots.minutes.at(-1) ?? -Infinity));
    yield slots;
  }
}

/** Keeps those later than `last` and not later than `until`, each once. */
function toSlotDay(
  day: number,
  instants: readonly number[],
  { last, until }: { readonly last: number; readonly until: number },
): SlotDay {
  const kept = [...new Set(instants)].filter((at) => at > last && at <= until);
  return { startMs: day, minutes: kept.map((at) => (at - day) / MINUTE_MS) };
}

/** Local dates differ from UTC dates by less than a day. */
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

function minuteOfDay(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

export interface TakenSlots {
  findFree(day: SlotDay, from: number): number;
}

/** For a longer time than a little over a year, no byte per minute is kept. */
const MAX_MINUTES = 400 * 24 * 60;

/**
 * Searched quickly: with many rules and queued posts, a search passes a million slots. `slots` are
 * in milliseconds since 1970, in any order.
 */
export function createTakenSlots(slots: readonly number[]): TakenSlots {
  let [firstMs, lastMs] = [Infinity, -Infinity];
  for (const slotAt of slots) {
    firstMs = Math.min(firstMs, slotAt);
    lastMs = Math.max(lastMs, slotAt);
  }
  const first = Math.floor(firstMs / MINUTE_MS);
  const length = Math.floor(lastMs / MINUTE_MS) - first + 1;
  if (slots.length === 0 || length > MAX_MINUTES) return { findFree: searchIn(new Set(slots)) };
  // Slots are whole minutes, except those of time zones whose offset from UTC had seconds in the
  // past.
  const others = new Set<number>();
  const takenMinutes = new Uint8Array(length);
  for (const slotAt of slots)
    if (slotAt % MINUTE_MS === 0) takenMinutes[slotAt / MINUTE_MS - first] = 1;
    else others.add(slotAt);
  if (others.size > 0) return { findFree: searchIn(new Set(slots)) };
  return {
    findFree({ startMs, minutes }, from) {
      const start = startMs / MINUTE_MS - first;
      let index = from;
      while (index < minutes.length && takenMinutes[start + (minutes[index] ?? 0)] === 1)
        index += 1;
      return index;
    },
  };
}

function searchIn(taken: ReadonlySet<number>): TakenSlots["findFree"] {
  return (day, from) => {
    let index = from;
    while (index < day.minutes.length && taken.has(slotOf(day, day.minutes[index] ?? 0)))
      index += 1;
    return index;
  };
}
