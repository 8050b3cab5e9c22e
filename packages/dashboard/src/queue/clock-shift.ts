import type { QueueSlotRule } from "@postrider/client";
import { placeInZone } from "../time/place-in-zone.ts";

/** A change of clocks that moves a rule in the day of a reader who lives in another zone. */
export interface ClockShift {
  readonly at: Temporal.ZonedDateTime;
  /** Zone whose clocks change. */
  readonly zone: string;
  /** The first time of the rule, as the reader's clock shows it before and after. */
  readonly before: Temporal.ZonedDateTime;
  readonly after: Temporal.ZonedDateTime;
}

const HORIZON_DAYS = 366;

/** The next change within a year that shifts the two zones against each other. */
export function nextShift(
  { timezone, times }: Pick<QueueSlotRule, "timezone" | "times">,
  zone: string,
  now: Temporal.Instant,
): ClockShift | undefined {
  const horizon = now.add({ hours: HORIZON_DAYS * 24 });
  const [time = "00:00"] = times.toSorted();
  const inReaderZone = (day: Temporal.PlainDate) =>
    placeInZone(day.toPlainDateTime(Temporal.PlainTime.from(time)), timezone).at.withTimeZone(zone);
  const changes = [timezone, zone]
    .flatMap((one) => changesOf(one, now, horizon))
    .toSorted((one, other) => Temporal.ZonedDateTime.compare(one, other));
  for (const at of changes) {
    const day = at.withTimeZone(timezone).toPlainDate();
    const before = inReaderZone(day.subtract({ days: 2 }));
    const after = inReaderZone(day.add({ days: 2 }));
    if (!before.toPlainTime().equals(after.toPlainTime()))
      return { at, zone: at.timeZoneId, before, after };
  }
  return undefined;
}

function changesOf(zone: string, now: Temporal.Instant, horizon: Temporal.Instant) {
  const changes: Temporal.ZonedDateTime[] = [];
  let change = now.toZonedDateTimeISO(zone).getTimeZoneTransition("next");
  while (change !== null && Temporal.Instant.compare(change.toInstant(), horizon) < 0) {
    changes.push(change);
    change = change.getTimeZoneTransition("next");
  }
  return changes;
}
