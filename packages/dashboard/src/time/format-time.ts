import type { Language } from "../settings/settings.ts";

const LOCALES: Readonly<Record<Language, string>> = { en: "en-GB", ko: "ko-KR" };
const MONTHS_WITHOUT_YEAR = 6;

export interface DayWords {
  readonly today: string;
  readonly tomorrow: string;
  readonly yesterday: string;
}

interface Look {
  readonly language: Language;
  readonly words: DayWords;
}

type Options = Intl.DateTimeFormatOptions;

const CLOCK: Options = { hour: "2-digit", minute: "2-digit" };
const KOREAN_CLOCK: Options = { ...CLOCK, hourCycle: "h23" };
const formats = new Map<string, Intl.DateTimeFormat>();

/** Making a format takes longer than using it a hundred times. */
function formatOf(locale: string, options: Options): Intl.DateTimeFormat {
  return keep(`${locale}${JSON.stringify(options)}`, locale, options);
}

function keep(
  key: string,
  locale: string,
  options: Options,
  timeZone = options.timeZone,
): Intl.DateTimeFormat {
  let format = formats.get(key);
  if (format === undefined)
    formats.set(key, (format = new Intl.DateTimeFormat(locale, { ...options, timeZone })));
  return format;
}

/** What a format needs of a time. Making a `ZonedDateTime` takes 80 µs where it is a polyfill. */
type InZone = Pick<Temporal.ZonedDateTime, "timeZoneId" | "epochMilliseconds">;

function write(at: InZone, locale: string, options: Options): string {
  // The formats of Intl do not take a ZonedDateTime with a zone of its own.
  return formatOf(locale, { ...options, timeZone: at.timeZoneId }).format(at.epochMilliseconds);
}

/** Browsers tell only their locale, so that 12 or 24 hours follow from it. */
function clockLocale(language: Language): string {
  const own = globalThis.navigator?.language ?? "en-GB";
  return own.startsWith(language) ? own : LOCALES[language];
}

/** "18:00", or "6:00 PM" where the locale of the browser counts twelve hours. */
export function clockOf({ timeZoneId, epochMilliseconds }: InZone, language: Language): string {
  const locale = language === "ko" ? "ko-KR" : clockLocale(language);
  const clock = language === "ko" ? KOREAN_CLOCK : CLOCK;
  // A list has hundreds of clocks: their key is shorter than that of other formats.
  return keep(`${locale} ${timeZoneId}`, locale, clock, timeZoneId).format(epochMilliseconds);
}

/**
 * The same time in another zone, "18:39", with the weekday where that is another day there: "Sun
 * 18:39", "(일) 18:39".
 */
export function clockElsewhere(
  at: Temporal.ZonedDateTime,
  zone: string,
  language: Language,
): string {
  const there = at.withTimeZone(zone);
  const clock = clockOf(there, language);
  if (there.toPlainDate().equals(at.toPlainDate())) return clock;
  const weekday = weekdayOf(there.toPlainDate(), language);
  return language === "ko" ? `(${weekday}) ${clock}` : `${weekday} ${clock}`;
}

/** "14:05:00.187": for the steps of a publication, which a reader compares with other logs. */
export function clockWithMsOf(at: Temporal.ZonedDateTime): string {
  return at.toPlainTime().toString({ smallestUnit: "millisecond" });
}

export function clockWithSecondsOf(at: Temporal.ZonedDateTime): string {
  return at.toPlainTime().toString({ smallestUnit: "second" });
}

/** Weekday and day, as "Fri 27 Nov" or "11월 27일 (금)"; the year only beyond six months. */
export function dayOf(
  at: Temporal.ZonedDateTime,
  now: Temporal.ZonedDateTime,
  look: Language,
): string {
  const far = at.toPlainDate().until(now.toPlainDate(), { largestUnit: "month" }).total({
    unit: "month",
    relativeTo: at.toPlainDate(),
  });
  const year: Options = Math.abs(far) > MONTHS_WITHOUT_YEAR ? { year: "numeric" } : {};
  const options: Options = {
    weekday: "short",
    day: "numeric",
    month: "short",
    ...year,
  };
  return write(at, LOCALES[look], options).replace(",", "");
}

/** The day as today, tomorrow or yesterday where it is one of them, otherwise its date. */
export function nearDayOf(
  at: Temporal.ZonedDateTime,
  now: Temporal.ZonedDateTime,
  look: Look,
): string {
  const days = now.toPlainDate().until(at.toPlainDate(), { largestUnit: "day" }).days;
  const { words, language } = look;
  const near = new Map([
    [0, words.today],
    [1, words.tomorrow],
    [-1, words.yesterday],
  ]).get(days);
  return near ?? dayOf(at, now, language);
}

/** For the heads of lists: "Tomorrow, Wed 25 Nov". */
export function dayHeadOf(
  at: Temporal.ZonedDateTime,
  now: Temporal.ZonedDateTime,
  look: Look,
): string {
  const day = dayOf(at, now, look.language);
  const near = nearDayOf(at, now, look);
  return near === day || near === look.words.yesterday ? day : `${near}, ${day}`;
}

/** "Fri 27 Nov 2026": a day with its year, where a time is chosen. */
export function fullDayOf(at: Temporal.ZonedDateTime, language: Language): string {
  const options: Options = {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
  };
  return write(at, LOCALES[language], options).replace(",", "");
}

/** "Fri 27 Nov 2026, 18:00:00", for tooltips. */
export function fullOf(at: Temporal.ZonedDateTime, language: Language): string {
  return `${fullDayOf(at, language)}, ${clockWithSecondsOf(at)}`;
}

/** Units with the space before them, which Korean does without. */
export interface DistanceWords {
  readonly day: string;
  readonly hour: string;
  readonly minute: string;
  readonly second: string;
}

/** "3 d 4 h", "2 h 5 min", "58 s": the largest units that are not zero. */
export function distanceOf(ms: number, words: DistanceWords, units: 1 | 2 = 2): string {
  const seconds = Math.round(Math.abs(ms) / 1000);
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 86_400), words.day],
    [Math.floor(seconds / 3600) % 24, words.hour],
    [Math.floor(seconds / 60) % 60, words.minute],
    [seconds % 60, words.second],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return `0${words.second}`;
  return parts
    .slice(first, first + units)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count}${unit}`)
    .join(" ");
}

/** "24 ms", "0.3 s", "3 min 15 s": how long something took. */
export function durationOf(ms: number, words: DistanceWords): string {
  if (ms < 100) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)}${words.second}` : distanceOf(ms, words);
}

function writeDate(day: Temporal.PlainDate, language: Language, options: Options): string {
  return write(day.toZonedDateTime("UTC"), LOCALES[language], options);
}

/** "November 2026", "2026년 11월". */
export function monthOf(day: Temporal.PlainDate, language: Language): string {
  return writeDate(day, language, { month: "long", year: "numeric" });
}

/**
 * "22–28 March 2027", with a month and a year once where both days share them; in little room with
 * the short month and without the year.
 */
export function spanOf(
  [first, last]: readonly [Temporal.PlainDate, Temporal.PlainDate],
  language: Language,
  isNarrow: boolean,
): string {
  const ms = (day: Temporal.PlainDate) => day.toZonedDateTime("UTC").epochMilliseconds;
  const length: Options = isNarrow ? { month: "short" } : { month: "long", year: "numeric" };
  const options: Options = { day: "numeric", ...length, timeZone: "UTC" };
  return formatOf(LOCALES[language], options).formatRange(ms(first), ms(last));
}

export function weekdayOf(
  day: Temporal.PlainDate,
  language: Language,
  weekday: "short" | "long" = "short",
): string {
  return writeDate(day, language, { weekday });
}

/** "1 Dec", "12월 1일"; in little room "12. 1." in Korean. */
export function dateOf(
  day: Temporal.PlainDate,
  language: Language,
  isNarrow: boolean = false,
): string {
  const month = language === "ko" && isNarrow ? "numeric" : "short";
  return writeDate(day, language, { day: "numeric", month });
}

/** "Tue 24 November", "11월 24일 (화)". */
export function longDateOf(day: Temporal.PlainDate, language: Language): string {
  const month = language === "ko" ? "short" : "long";
  return writeDate(day, language, { weekday: "short", day: "numeric", month }).replace(",", "");
}
