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

interface SearchOptions {
  readonly after: Date;
  readonly taken: TakenSlots;
  readonly count: number;
}

/**
 * Of all active rules, in order of time; fewer than `options.count` if the next year has no more.
 * The oldest of several rules gets a slot, so that a new rule never takes one over. Each step takes
 * far less than a millisecond. Slots are strictly later than `options.after`.
 */
export function* firstFreeSlots(
  rules: readonly QueueSlotRule[],
  options: SearchOptions,
): Generator<void, readonly QueueSlot[]> {
  const { after, taken } = options;
  const keys = new Set<string>();
  const searched: QueueSlotRule[] = [];
  for (const rule of rules.filter(isActive).toSorted(byAge)) {
    // A younger rule with the same timetable creates no slot that does not belong to the older one.
    const key = keyOf(rule);
    if (!keys.has(key)) searched.push(rule);
    keys.add(key);
  }
  const found: QueueSlot[] = [];
  for (const range of searchRanges(after)) {
    const count = options.count - found.length;
    if (count === 0) break;
    found.push(...(yield* slotsInRange(searched, range, { taken, count })));
  }
  return found;
}

/** A slot that several rules create belongs to the first of them. */
function* slotsInRange(
  rules: readonly QueueSlotRule[],
  { after, until }: SlotRange,
  options: Omit<SearchOptions, "after">,
): Generator<void, readonly QueueSlot[]> {
  let first: readonly (readonly [number, string])[] = [];
  let end = until;
  for (const rule of rules) {
    const slots = yield* freeSlotsOf(rule, { after, until: end }, options);
    const owners = new Map([...slots.map((at) => [at, rule.id] as const), ...first]);
    first = [...owners].toSorted(([a], [b]) => a - b).slice(0, options.count);
    const last = first[options.count - 1];
    if (last !== undefined) end = new Date(last[0] - 1);
  }
  return first.map(([at, ruleId]) => ({ slotAt: new Date(at), ruleId }));
}

/** The ranges grow, so that no rule is searched far beyond the last slot that is needed. */
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
  options: SearchOptions,
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
  { taken, count }: Omit<SearchOptions, "after">,
): Generator<void, readonly number[]> {
  yield;
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
