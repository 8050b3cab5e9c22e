import type { PostSummary, QueueSlotRule } from "@postrider/client";
import { queueSlots } from "../../queue/queue-slots.ts";

export interface ShownSlot {
  readonly ms: number;
  readonly at: Temporal.ZonedDateTime;
  readonly post: PostSummary | undefined;
}

/** One week of slots: its days, its clocks from early to late, and what lies where they cross. */
export interface SlotWeek {
  readonly days: readonly Temporal.PlainDate[];
  readonly clocks: readonly string[];
  /** By day and clock, as `keyOf` joins them. */
  readonly slots: ReadonlyMap<string, ShownSlot>;
}

const WEEK = 7;

export function keyOf(day: Temporal.PlainDate, clock: string): string {
  return `${day.toString()} ${clock}`;
}

function clockKey(at: Temporal.ZonedDateTime): string {
  return at.toPlainTime().toString({ smallestUnit: "minute" });
}

/** The slots of 14 days from a day on, free and taken, in the order of time. */
export function shownSlots(
  rules: readonly QueueSlotRule[],
  posts: readonly PostSummary[],
  first: Temporal.PlainDate,
  zone: string,
): readonly ShownSlot[] {
  const msOf = (day: Temporal.PlainDate) => day.toZonedDateTime(zone).epochMilliseconds;
  const byTime = new Map(
    posts.map((post) => [post.scheduledAt === null ? 0 : Date.parse(post.scheduledAt), post]),
  );
  return queueSlots(rules, msOf(first), msOf(first.add({ days: 2 * WEEK }))).map(({ ms }) => ({
    ms,
    at: Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone),
    post: byTime.get(ms),
  }));
}

/** The same slots as a table for each of the two weeks. */
export function slotWeeks(
  slots: readonly ShownSlot[],
  first: Temporal.PlainDate,
): readonly SlotWeek[] {
  const clocks = [...new Set(slots.map(({ at }) => clockKey(at)))].toSorted();
  const byKey = new Map(
    slots.map((slot) => [keyOf(slot.at.toPlainDate(), clockKey(slot.at)), slot]),
  );
  return [0, WEEK].map((offset) => ({
    days: Array.from({ length: WEEK }, (_, index) => first.add({ days: offset + index })),
    clocks,
    slots: byKey,
  }));
}
