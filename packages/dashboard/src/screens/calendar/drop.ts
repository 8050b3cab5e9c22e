import { moveToDay, type Placement } from "../../time/place-in-zone.ts";

/** What would happen if a post were dropped on a day. */
export interface Drop {
  readonly placement: Placement;
  /** Why it cannot be dropped there. */
  readonly fault: "past" | "far" | undefined;
}

const MAX_DAYS = 366;

/** The same local clock on the day, whatever the days between. */
export function dropOn(
  scheduledAt: string,
  day: Temporal.PlainDate,
  now: Temporal.ZonedDateTime,
): Drop {
  const placement = moveToDay(scheduledAt, now.timeZoneId, day);
  const ms = placement.at.epochMilliseconds;
  if (ms <= now.epochMilliseconds) return { placement, fault: "past" };
  const isFar = ms > now.add({ days: MAX_DAYS }).epochMilliseconds;
  return { placement, fault: isFar ? "far" : undefined };
}
