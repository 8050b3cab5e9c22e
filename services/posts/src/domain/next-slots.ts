import type { QueueSlotRule, SlotTimetable } from "#src/domain/queue-slot-rule.ts";
import { slotOf, type SlotRange, slotsByDay, type TakenSlots } from "#src/domain/slot-times.ts";
import { DAY_MS } from "#src/domain/zone-clock.ts";

export interface QueueSlot {
  readonly slotAt: Date;
  readonly ruleId: string;
}

export type NextSlots = readonly Date[];

/** Length of the time range that is searched first for the next slot of all rules. */
const FIRST_RANGE_MS = 2 * DAY_MS;
/** Factor by which each range is longer than the one before. */
const RANGE_GROWTH = 8;
/** Days that are searched before a search lets its caller do other work. */
const DAYS_PER_STEP = 8;

/**
 * Of all active rules; undefined if the next year has none. The oldest of several rules gets the
 * slot, so that a new rule never takes one over. Each step takes far less than a millisecond. The
 * slot is strictly later than `options.after`.
 */
export function* nextFreeSlot(
  rules: readonly QueueSlotRule[],
  { after, taken }: { readonly after: Date; readonly taken: TakenSlots },
): Generator<void, QueueSlot | undefined> {
  const keys = new Set<string>();
  const searched: QueueSlotRule[] = [];
  for (const rule of rules.filter(isActive).toSorted(byAge)) {
    // A younger rule with the same timetable creates no slot that does not belong to the older one.
    const key = keyOf(rule);
    if (!keys.has(key)) searched.push(rule);
    keys.add(key);
  }
  for (const range of searchRanges(after)) {
    const slot = yield* firstFreeSlot(searched, range, taken);
    if (slot !== undefined) return slot;
  }
  return undefined;
}

/** If several rules create the first free slot, it belongs to the first of them. */
function* firstFreeSlot(
  rules: readonly QueueSlotRule[],
  { after, until }: SlotRange,
  taken: TakenSlots,
): Generator<void, QueueSlot | undefined> {
  let first: QueueSlot | undefined;
  let end = until;
  for (const rule of rules) {
    const [slotAt] = yield* freeSlotsOf(rule, { after, until: end }, { taken, count: 1 });
    if (slotAt === undefined) continue;
    first = { slotAt: new Date(slotAt), ruleId: rule.id };
    end = new Date(slotAt - 1);
  }
  return first;
}

/** The ranges grow, so that no rule is searched far beyond the first slot. */
function* searchRanges(now: Date): Generator<SlotRange, undefined> {
  const horizon = slotHorizon(now);
  let after = now;
  for (let lengthMs = FIRST_RANGE_MS; after < horizon; lengthMs *= RANGE_GROWTH) {
    const until = new Date(Math.min(now.getTime() + lengthMs, horizon.getTime()));
    yield { after, until };
    after = until;
  }
}

/**
 * Of each rule, as if it were alone; none for a rule that is not active. Each step takes far less
 * than a millisecond. Slots are strictly later than `options.after`.
 */
export function* nextFreeSlots(
  rules: readonly QueueSlotRule[],
  options: { readonly after: Date; readonly taken: TakenSlots; readonly count: number },
): Generator<void, readonly NextSlots[]> {
  const { after } = options;
  const range = { after, until: slotHorizon(after) };
  const known = new Map<string, NextSlots>();
  const all: NextSlots[] = [];
  for (const rule of rules) {
    const key = isActive(rule) ? keyOf(rule) : "";
    const slots =
      known.get(key) ??
      (isActive(rule) ? yield* freeSlotsOf(rule, range, options) : []).map((at) => new Date(at));
    known.set(key, slots);
    all.push(slots);
  }
  return all;
}

export function slotHorizon(after: Date): Date {
  const horizon = new Date(after);
  horizon.setUTCFullYear(after.getUTCFullYear() + 1);
  return horizon;
}

function* freeSlotsOf(
  timetable: SlotTimetable,
  range: SlotRange,
  { taken, count }: { readonly taken: TakenSlots; readonly count: number },
): Generator<void, readonly number[]> {
  const free: number[] = [];
  let days = 0;
  for (const day of slotsByDay(timetable, range)) {
    for (
      let at = taken.findFree(day, 0);
      at < day.minutes.length;
      at = taken.findFree(day, at + 1)
    ) {
      free.push(slotOf(day, day.minutes[at] ?? 0));
      if (free.length === count) return free;
    }
    days += 1;
    if (days % DAYS_PER_STEP === 0) yield;
  }
  yield;
  return free;
}

function isActive({ status }: QueueSlotRule): boolean {
  return status === "active";
}

function keyOf({ weekdays, times, timezone, startsOn, endsOn }: SlotTimetable): string {
  return [weekdays, times, timezone, startsOn, endsOn].join(" ");
}

/** Ids decide between rules of the same age, so that every replica chooses the same rule. */
function byAge(a: QueueSlotRule, b: QueueSlotRule): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}
