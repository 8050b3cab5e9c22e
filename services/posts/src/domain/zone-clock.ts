export const MINUTE_MS = 60_000;

export const DAY_MS = 24 * 60 * MINUTE_MS;

const SECOND_MS = 1000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Local times are milliseconds, counted as if they were UTC. Our own arithmetic on `Intl`, not
 * `Temporal`: the slots of a year at 48 times a day take 5 ms (150 ms the first time), with
 * temporal-polyfill 1.0.8 1.4 s, with @js-temporal/polyfill 0.5.1 1.7 to 5.6 s (Node 24, November
 * 2026), which would block other requests. Node's own is behind a flag, and Temporal moves skipped
 * times by the length of the gap, not to its end.
 */
export interface ZoneClock {
  /**
   * The first instant if the time occurs twice, the moment of the change if the clock skips it. A
   * later time never has an earlier instant. `dayMs`: the local date as its midnight in UTC.
   */
  instantOf(dayMs: number, timeMs: number): number;
  /** Undefined for a local date on which the offset from UTC may change. */
  offsetOn(dayMs: number): number | undefined;
}

interface Period {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly offsetMs: number;
}

type OffsetAt = (instantMs: number) => number;

/**
 * More than the IANA database has names, so that requests do not make each other compute zones
 * again. A full cache is emptied.
 */
const MAX_CLOCKS = 1024;
/** A little more than the year for which queue slots are computed. */
const MAX_DAYS = 400;
const clocks = new Map<string, ZoneClock>();

/** Returns the clock of a time zone of the IANA database; undefined for an unknown zone. */
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

/** `Intl` also accepts offsets and ambiguous names: IST may be India, Israel or Ireland. */
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

/** Such as in `3/28/2027, GMT+02:00`. Historical offsets have seconds; that of UTC is empty. */
function parseOffset(text: string): number {
  const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (match === null)
    throw new Error(`Intl returned a date without an offset: ${JSON.stringify(text)}`);
  const [, sign, hours = "0", minutes = "0", seconds = "0"] = match;
  const offset =
    Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS + Number(seconds) * SECOND_MS;
  return sign === "-" ? -offset : offset;
}

function createClock(offsetAt: OffsetAt): ZoneClock {
  const offsetAtMidnight = cached(offsetAt);
  // Most days have one offset, and share its period.
  const constants = cached((offsetMs) => [{ fromMs: -Infinity, untilMs: Infinity, offsetMs }]);
  const periodsAround = cached((dayMs): readonly Period[] => {
    const offsets = [-1, 0, 1, 2].map((days) => offsetAtMidnight(dayMs + days * DAY_MS));
    const [first = 0] = offsets;
    return offsets.every((offset) => offset === first)
      ? constants(first)
      : findPeriods(offsetAt, dayMs);
  });
  return {
    instantOf: (dayMs, timeMs) => firstReaching(periodsAround(dayMs), dayMs + timeMs),
    offsetOn(dayMs) {
      const [period, ...others] = periodsAround(dayMs);
      return others.length === 0 ? period?.offsetMs : undefined;
    },
  };
}

/** Returns a function that computes each value once, as long as it is asked for few of them. */
function cached<T>(compute: (key: number) => T): (key: number) => T {
  const values = new Map<number, T>();
  return (key) => {
    const known = values.get(key);
    if (known !== undefined) return known;
    if (values.size >= MAX_DAYS) values.clear();
    const value = compute(key);
    values.set(key, value);
    return value;
  };
}

/**
 * From one UTC day before the date to one after it, because offsets are less than 24 hours. Once a
 * day suffices: no zone has ever changed its offset twice in a day.
 */
function findPeriods(offsetAt: OffsetAt, dayMs: number): readonly Period[] {
  const periods: Period[] = [];
  const endMs = dayMs + 2 * DAY_MS;
  let fromMs = dayMs - DAY_MS;
  let offsetMs = offsetAt(fromMs);
  for (let lookMs = fromMs + DAY_MS; lookMs <= endMs; lookMs += DAY_MS) {
    const nextMs = offsetAt(lookMs);
    if (nextMs === offsetMs) continue;
    const untilMs = findChange(offsetAt, lookMs - DAY_MS, lookMs);
    periods.push({ fromMs, untilMs, offsetMs });
    [fromMs, offsetMs] = [untilMs, nextMs];
  }
  return [...periods, { fromMs, untilMs: endMs, offsetMs }];
}

/** To the second. */
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

function firstReaching(periods: readonly Period[], wallMs: number): number {
  for (const { fromMs, untilMs, offsetMs } of periods) {
    const at = Math.max(fromMs, wallMs - offsetMs);
    if (at < untilMs) return at;
  }
  throw new RangeError("the local time is outside of the day that the periods cover");
}
