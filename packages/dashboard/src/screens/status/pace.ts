const MIN_DAYS = 3;

/**
 * How much of a month is used by its end if it goes on like this; undefined in its first days and
 * while nothing is used, of which nothing follows. Months of the quota are UTC.
 */
export function paceOf(used: number, period: string, now: Temporal.Instant): number | undefined {
  const start = Temporal.PlainDate.from(`${period}-01`);
  const startMs = start.toZonedDateTime("UTC").epochMilliseconds;
  const days = (now.epochMilliseconds - startMs) / 86_400_000;
  if (used === 0 || days < MIN_DAYS || days > start.daysInMonth) return undefined;
  return Math.round((used / days) * start.daysInMonth);
}
