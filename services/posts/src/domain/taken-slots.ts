import { slotOf, type SlotDay } from "./slot-times.ts";
import { MINUTE_MS } from "./zone-clock.ts";

/** The queue slots of a workspace that posts have taken. */
export interface TakenSlots {
  /**
   * Returns the index of the first slot of a day, from index `from` on, that is not taken; the number of slots if all of them are
   * taken.
   */
  findFree(day: SlotDay, from: number): number;
}

/** Maximum time in minutes between the first and the last slot for which a byte per minute is kept: a little over a year. */
const MAX_MINUTES = 400 * 24 * 60;

/**
 * Returns the taken slots as a set that is searched quickly: if a workspace has many rules and many queued posts, a search passes a
 * million slots.
 *
 * @param slots The taken slots in milliseconds since 1970, in any order.
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
  // Slots are whole minutes, except those of time zones whose offset from UTC had seconds in the past.
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
