import { placeReading, type Reading } from "../../posts/date-time-fields.tsx";
import { isSecondReading, toInstantText, toZoned } from "../../time/place-in-zone.ts";

/** When a post goes out. The reading of the clock is kept as it was written, with its zone. */
export interface When extends Reading {
  readonly kind: "now" | "slot" | "at";
  /** Of a reading that comes twice: the second of the two. */
  readonly later: boolean;
}

/** The next full hour, for when "at a time" is chosen and nothing else is proposed. */
export function firstWhen(now: Temporal.ZonedDateTime): When {
  const next = now.round({ smallestUnit: "hour", roundingMode: "ceil" });
  return { ...readingOf(next), kind: "now" };
}

export function whenAt(instant: string, zone: string): When {
  return { ...readingOf(toZoned(instant, zone)), kind: "at" };
}

function readingOf(at: Temporal.ZonedDateTime): Omit<When, "kind"> {
  const time = at.toPlainTime().toString({ smallestUnit: "minute" });
  const later = isSecondReading(at);
  return { date: at.toPlainDate().toString(), time, zone: at.timeZoneId, later };
}

/** Undefined while the reading is not complete. */
export function timeOfWhen(when: When): Temporal.ZonedDateTime | undefined {
  const placed = placeReading(when);
  return placed?.kind === "doubled" && when.later ? placed.later : placed?.at;
}

/** Of a post at a time; undefined for now, for a slot, and while the time is not complete. */
export function scheduledAtOf(when: When): string | undefined {
  const at = when.kind === "at" ? timeOfWhen(when) : undefined;
  return at && toInstantText(at);
}
