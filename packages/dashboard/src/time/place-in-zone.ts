/**
 * Where a wall clock reading of a zone lies in time. Around changes of the clocks a reading can be
 * missing or come twice. Temporal's own answer to a missing one, "compatible", adds the length of
 * the gap and so goes to a time that the reader did not choose; here a missing reading becomes the
 * first instant after the gap, and a doubled one the first of the two.
 */
export type Placement =
  | { readonly kind: "exact"; readonly at: Temporal.ZonedDateTime }
  | { readonly kind: "gap"; readonly at: Temporal.ZonedDateTime }
  | {
      readonly kind: "doubled";
      readonly at: Temporal.ZonedDateTime;
      /** The same reading an hour, or another distance, later. */
      readonly later: Temporal.ZonedDateTime;
    };

export function placeInZone(reading: Temporal.PlainDateTime, zone: string): Placement {
  const earlier = reading.toZonedDateTime(zone, { disambiguation: "earlier" });
  const later = reading.toZonedDateTime(zone, { disambiguation: "later" });
  if (earlier.epochNanoseconds === later.epochNanoseconds) return { kind: "exact", at: earlier };
  if (earlier.toPlainDateTime().equals(reading)) return { kind: "doubled", at: earlier, later };
  // In a gap, "earlier" reads the clock before the change, so the change is the next transition.
  const change = earlier.getTimeZoneTransition("next");
  return { kind: "gap", at: change ?? later };
}

/** Whether a time is the second of two with the same reading of the clock. */
export function isSecondReading(at: Temporal.ZonedDateTime): boolean {
  const placed = placeInZone(at.toPlainDateTime(), at.timeZoneId);
  return placed.kind === "doubled" && placed.later.epochNanoseconds === at.epochNanoseconds;
}

/**
 * Moves an instant to another day of a zone and keeps the reading of the local clock, whatever the
 * days between.
 */
export function moveToDay(instant: string, zone: string, day: Temporal.PlainDate): Placement {
  const reading = toZoned(instant, zone).toPlainTime();
  return placeInZone(day.toPlainDateTime(reading), zone);
}

/**
 * The one conversion at the edge of the API: an instant of the server in the zone of the reader.
 */
export function toZoned(instant: string, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.from(instant).toZonedDateTimeISO(zone);
}

/** As the API expects it: UTC with milliseconds. */
export function toInstantText(at: Temporal.ZonedDateTime): string {
  return at.toInstant().toString({ smallestUnit: "millisecond" });
}

/** The `max` of date fields: without one they take years of six digits. */
export const LAST_DATE = "9999-12-31";

/** The date of a field; undefined while it is unfinished or has a year of more than four digits. */
export function parseDate(text: string): Temporal.PlainDate | undefined {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? Temporal.PlainDate.from(text) : undefined;
}

/** Hours of a day in a zone: 23 or 25 where the clocks change. */
export function hoursOfDay(day: Temporal.PlainDate, zone: string): number {
  return day.toZonedDateTime(zone).hoursInDay;
}
