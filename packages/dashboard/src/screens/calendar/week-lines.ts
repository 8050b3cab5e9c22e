/** Minutes of the wall clock, not inclusive of `end`. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** What a change of the clocks makes of a day. */
export interface ClockChange {
  /** `gap`: the stretch does not exist. `doubled`: it comes twice. */
  readonly kind: "gap" | "doubled";
  readonly stretch: Stretch;
  readonly ms: number;
}

const DAY_MINUTES = 24 * 60;
const NS_PER_MINUTE = 60e9;

/** The change of the clocks on a day; undefined on all other days. */
export function changeOn(day: Temporal.PlainDate, zone: string): ClockChange | undefined {
  const start = day.toZonedDateTime(zone);
  const end = day.add({ days: 1 }).toZonedDateTime(zone);
  // A change at midnight belongs to the day that begins with it.
  const change = start.subtract({ nanoseconds: 1 }).getTimeZoneTransition("next");
  if (change === null || Temporal.ZonedDateTime.compare(change, end) >= 0) return undefined;
  const before = change.subtract({ nanoseconds: 1 }).offsetNanoseconds;
  const jump = (change.offsetNanoseconds - before) / NS_PER_MINUTE;
  // A zone can change its name without moving its clocks.
  if (jump === 0) return undefined;
  const after = minuteOf(change);
  const ms = change.epochMilliseconds;
  return jump > 0
    ? { kind: "gap", stretch: { start: after - jump, end: after }, ms }
    : { kind: "doubled", stretch: { start: after, end: after - jump }, ms };
}

function minuteOf({ hour, minute }: { readonly hour: number; readonly minute: number }): number {
  return hour * 60 + minute;
}

/**
 * The lines of a week: minutes from above, by the wall clock. A stretch that comes twice on one of
 * its days is drawn twice for all seven, so that an hour stays in one line across the week.
 */
export interface WeekLines {
  readonly doubled: Stretch | undefined;
  readonly length: number;
}

export function linesOf(changes: readonly (ClockChange | undefined)[]): WeekLines {
  const doubled = changes.find((change) => change?.kind === "doubled")?.stretch;
  return { doubled, length: DAY_MINUTES + lengthOf(doubled) };
}

function lengthOf(stretch: Stretch | undefined): number {
  return stretch === undefined ? 0 : stretch.end - stretch.start;
}

/** Where a reading of the clock lies from above. */
export function lineOf(
  { doubled }: WeekLines,
  reading: { readonly hour: number; readonly minute: number },
  isSecond = false,
): number {
  const minute = minuteOf(reading);
  const isBelow = doubled !== undefined && (minute >= doubled.end || isSecond);
  return isBelow ? minute + lengthOf(doubled) : minute;
}

/** Whether an instant lies in the second of two equal stretches of its day. */
export function isSecond(ms: number, change: ClockChange | undefined): boolean {
  if (change?.kind !== "doubled" || ms < change.ms) return false;
  return ms < change.ms + lengthOf(change.stretch) * 60_000;
}

/** Two-hourly labels from above; the hour that comes twice has both. */
export function labelsOf(lines: WeekLines): readonly { readonly clock: string; line: number }[] {
  const { doubled } = lines;
  const labels = Array.from({ length: 12 }, (_, index) => {
    const reading = { hour: index * 2, minute: 0 };
    return { clock: textOf(index * 120), line: lineOf(lines, reading) };
  });
  if (doubled === undefined) return labels;
  return [...labels, { clock: textOf(doubled.start), line: doubled.end }].toSorted(
    (one, other) => one.line - other.line,
  );
}

export function textOf(minutes: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/**
 * Chips have a height although posts are points: each lies at its minute, or below the one before
 * where that one reaches further. `tops` are in the order of time.
 */
export function stackDown(tops: readonly number[], height: number): readonly number[] {
  let free = Number.NEGATIVE_INFINITY;
  return tops.map((top) => {
    const at = Math.max(top, free);
    free = at + height;
    return at;
  });
}
