/** A minute. */
export const MINUTE_MS = 60_000;

/** A day of 24 hours. */
export const DAY_MS = 24 * 60 * MINUTE_MS;

const SECOND_MS = 1000;
const HOUR_MS = 60 * MINUTE_MS;

/** The wall clock of a time zone. What it shows is counted in milliseconds as if it showed UTC. */
export interface ZoneClock {
  /**
   * The first instant at which the clock shows the time or, where it jumps over it, a later one: of a doubled time the
   * first, of a missing one the moment of the jump. Never decreasing in the time.
   *
   * @param dayMs The local date: its midnight in UTC.
   * @param timeMs The time of day, since midnight.
   */
  instantOf(dayMs: number, timeMs: number): number;
}

/** A stretch of time in which a clock keeps its distance to UTC. */
interface Stretch {
  readonly fromMs: number;
  /** Where the next one begins. */
  readonly untilMs: number;
  readonly offsetMs: number;
}

type OffsetAt = (instantMs: number) => number;

/** Remembered zones and days are pure functions of their keys, so forgetting them all costs only time. */
const MAX_CLOCKS = 128;
const MAX_DAYS = 400;
const clocks = new Map<string, ZoneClock>();

/** The clock of a zone of the IANA database, or undefined when there is no such zone. */
export function findZoneClock(timezone: string): ZoneClock | undefined {
  if (!isNameOfZone(timezone)) return undefined;
  const key = timezone.toLowerCase();
  const known = clocks.get(key);
  if (known !== undefined) return known;
  const offsetAt = findOffsets(timezone);
  if (offsetAt === undefined) return undefined;
  const clock = createClock(offsetAt);
  if (clocks.size >= MAX_CLOCKS) clocks.clear();
  clocks.set(key, clock);
  return clock;
}

const THREE_LETTERS = new Set([
  "CET",
  "EET",
  "EST",
  "GMT",
  "HST",
  "MET",
  "MST",
  "PRC",
  "ROC",
  "ROK",
  "UCT",
  "UTC",
  "WET",
]);

/**
 * Intl also takes offsets, and three-letter names of Java's that the IANA database does not have: IST would be India
 * here, Israel or Ireland elsewhere.
 */
function isNameOfZone(timezone: string): boolean {
  if (!/^[a-z][\w+/-]*$/i.test(timezone) || /^systemv\//i.test(timezone)) return false;
  return timezone.length !== 3 || THREE_LETTERS.has(timezone.toUpperCase());
}

function findOffsets(timezone: string): OffsetAt | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", { timeZone: timezone, timeZoneName: "longOffset" });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return (instantMs) => parseOffset(format.format(instantMs));
}

/** Reads the end of `3/28/2027, GMT+02:00`; old offsets have seconds, and UTC's own is empty. */
function parseOffset(text: string): number {
  const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (match === null) throw new Error(`no offset in ${JSON.stringify(text)}`);
  const [, sign, hours = "0", minutes = "0", seconds = "0"] = match;
  const offset =
    Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS + Number(seconds) * SECOND_MS;
  return sign === "-" ? -offset : offset;
}

function createClock(offsetAt: OffsetAt): ZoneClock {
  const days = new Map<number, readonly Stretch[]>();
  const stretchesAround = (dayMs: number): readonly Stretch[] => {
    const known = days.get(dayMs);
    if (known !== undefined) return known;
    if (days.size >= MAX_DAYS) days.clear();
    const stretches = findStretches(offsetAt, dayMs);
    days.set(dayMs, stretches);
    return stretches;
  };
  return {
    instantOf: (dayMs, timeMs) => firstReaching(stretchesAround(dayMs), dayMs + timeMs),
  };
}

/**
 * The offsets in force while a clock can show a local date: no offset reaches 24 hours, so that is from one UTC day
 * before to one after. Looking once a day misses nothing: no zone ever changed and changed back within one.
 */
function findStretches(offsetAt: OffsetAt, dayMs: number): readonly Stretch[] {
  const stretches: Stretch[] = [];
  const endMs = dayMs + 2 * DAY_MS;
  let fromMs = dayMs - DAY_MS;
  let offsetMs = offsetAt(fromMs);
  for (let lookMs = fromMs + DAY_MS; lookMs <= endMs; lookMs += DAY_MS) {
    const nextMs = offsetAt(lookMs);
    if (nextMs === offsetMs) continue;
    const untilMs = findChange(offsetAt, lookMs - DAY_MS, lookMs);
    stretches.push({ fromMs, untilMs, offsetMs });
    [fromMs, offsetMs] = [untilMs, nextMs];
  }
  return [...stretches, { fromMs, untilMs: endMs, offsetMs }];
}

/** The instant, to the second, at which the offset of `fromMs` gives way to that of `toMs`. */
function findChange(offsetAt: OffsetAt, fromMs: number, toMs: number): number {
  const before = offsetAt(fromMs);
  let [last, first] = [fromMs / SECOND_MS, toMs / SECOND_MS];
  while (first - last > 1) {
    const middle = Math.floor((last + first) / 2);
    if (offsetAt(middle * SECOND_MS) === before) last = middle;
    else first = middle;
  }
  return first * SECOND_MS;
}

function firstReaching(stretches: readonly Stretch[], wallMs: number): number {
  for (const { fromMs, untilMs, offsetMs } of stretches) {
    const at = Math.max(fromMs, wallMs - offsetMs);
    if (at < untilMs) return at;
  }
  throw new RangeError("not a time of the day that these stretches are around");
}
