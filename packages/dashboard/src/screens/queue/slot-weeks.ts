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

/** By the instant at which they go out or went out. A cancelled one leaves its time to others. */
export function postsByTime(posts: readonly PostSummary[]): ReadonlyMap<number, PostSummary> {
  return new Map(
    posts
      .filter(({ status }) => status !== "cancelled")
      .flatMap((post) =>
        post.scheduledAt === null ? [] : [[Date.parse(post.scheduledAt), post] as const],
      ),
  );
}

/** The slots of 14 days from a day on, free and taken, in the order of time. */
export function shownSlots(
  rules: readonly QueueSlotRule[],
  posts: ReadonlyMap<number, PostSummary>,
  first: Temporal.PlainDate,
  zone: string,
): readonly ShownSlot[] {
  const msOf = (day: Temporal.PlainDate) => day.toZonedDateTime(zone).epochMilliseconds;
  return queueSlots(rules, msOf(first), msOf(first.add({ days: 2 * WEEK }))).map(({ ms }) => ({
    ms,
    at: Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone),
    post: posts.get(ms),
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
