import type { QueueSlotRule } from "@postrider/client";
import { placeInZone } from "../time/place-in-zone.ts";

export interface QueueSlot {
  readonly ms: number;
  /** The oldest rule that makes it. */
  readonly ruleId: string;
}

const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
const DAY_MS = 86_400_000;

/**
 * The slots of the active rules from one instant up to another (not inclusive), free or taken, in
 * the order of time. The API names only the next three free ones of a rule. As there, a time that a
 * change of the clocks skips moves to the change, one that comes twice counts once, and the oldest
 * of several rules gets the slot.
 */
export function queueSlots(
  rules: readonly QueueSlotRule[],
  startMs: number,
  endMs: number,
): readonly QueueSlot[] {
  const slots = new Map<number, QueueSlot>();
  const active = rules
    .filter(({ status }) => status === "active")
    .toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1));
  for (const rule of active)
    for (const ms of timesOf(rule, startMs, endMs))
      if (ms >= startMs && ms < endMs && !slots.has(ms)) slots.set(ms, { ms, ruleId: rule.id });
  return [...slots.values()].toSorted((one, other) => one.ms - other.ms);
}

function* timesOf(rule: QueueSlotRule, startMs: number, endMs: number): Generator<number> {
  const { timezone, times } = rule;
  const dateOf = (ms: number) =>
    Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone).toPlainDate();
  // A time that is skipped at midnight moves to the next day.
  const last = dateOf(endMs);
  let day = dateOf(startMs).subtract({ days: 1 });
  for (; Temporal.PlainDate.compare(day, last) <= 0; day = day.add({ days: 1 }))
    if (holdsOn(rule, day)) yield* instantsOn(day, times, timezone);
}

function holdsOn({ weekdays, startsOn, endsOn }: QueueSlotRule, day: Temporal.PlainDate): boolean {
  const name = WEEKDAYS[day.dayOfWeek - 1];
  const date = day.toString();
  return (
    weekdays.some((weekday) => weekday === name) &&
    (startsOn === null || date >= startsOn) &&
    (endsOn === null || date <= endsOn)
  );
}

/** On nearly all days the clocks do not change, and a time costs an addition only. */
function instantsOn(day: Temporal.PlainDate, times: readonly string[], zone: string) {
  const start = day.toZonedDateTime(zone);
  const isPlain = start.hoursInDay * 3_600_000 === DAY_MS && start.hour === 0;
  return times.map((time) => {
    const at = Temporal.PlainTime.from(time);
    return isPlain
      ? start.epochMilliseconds + (at.hour * 60 + at.minute) * 60_000
      : placeInZone(day.toPlainDateTime(at), zone).at.epochMilliseconds;
  });
}

/**
 * What a click on a day proposes: its next free slot, else the next full hour; undefined for a day
 * that is over. On another day than today the full hour is that of now.
 */
export function proposeTime(
  rules: readonly QueueSlotRule[],
  taken: ReadonlySet<number>,
  day: Temporal.PlainDate,
  now: Temporal.ZonedDateTime,
): Temporal.ZonedDateTime | undefined {
  const zone = now.timeZoneId;
  const startMs = Math.max(day.toZonedDateTime(zone).epochMilliseconds, now.epochMilliseconds + 1);
  const endMs = day.add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds;
  if (endMs <= startMs) return undefined;
  const free = queueSlots(rules, startMs, endMs).find(({ ms }) => !taken.has(ms));
  if (free !== undefined)
    return Temporal.Instant.fromEpochMilliseconds(free.ms).toZonedDateTimeISO(zone);
  const hour = now.add({ hours: 1 }).round({ smallestUnit: "hour", roundingMode: "floor" });
  if (hour.toPlainDate().equals(day)) return hour;
  // Late in the evening the next full hour is not on this day any more.
  return day.equals(now.toPlainDate())
    ? undefined
    : placeInZone(day.toPlainDateTime(hour.toPlainTime()), zone).at;
}
