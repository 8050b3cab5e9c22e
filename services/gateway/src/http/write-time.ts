import { parseTimestamp } from "#src/http/timestamps.ts";

const DAY = /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})(?:[Tt]|$)/;
const MONTHS =
  "January February March April May June July August September October November December".split(
    " ",
  );

/** Undefined unless the date lies after the last day of its month. */
export function describeMissingDay(text: string): string | undefined {
  const { year, month, day } = DAY.exec(text)?.groups ?? {};
  const name = MONTHS[Number(month) - 1];
  if (name === undefined || year === "0000") return undefined;
  const last = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) > last ? `${name} ${year} has ${last} days` : undefined;
}

/** Maximum length of a text that is read as a time; every way to write a time is shorter. */
const MAX_LENGTH = 60;
/**
 * A time with an offset, in a form that programs write and RFC 3339 does not allow: without
 * seconds, with a blank for the `T`, a comma for the point, a blank before the offset, an offset of
 * hours alone, or the name of a time zone behind it.
 */
const ALMOST =
  /^ ?(?<date>\d{4}-\d{2}-\d{2})[Tt ](?<minutes>\d{2}:\d{2})(?<seconds>:\d{2})?(?:[.,](?<fraction>\d+))? ?(?<sign>[Zz]|[+-]\d{2})(?<rest>:?\d{2})?(?:\[[^\]]*\])? ?$/;
/** A date of HTTP and of mail, for example `Thu, 24 Dec 2026 18:00:00 GMT`. */
const HTTP_DATE =
  /^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} (?:GMT|[+-]\d{4})$/;
const SECONDS = /^\d{10}$/;
const MILLISECONDS = /^\d{13}$/;

/**
 * Returns a time that a client wrote in another form as it has to be sent; undefined for anything
 * that does not name one certain moment, for example a time without an offset.
 */
export function writeTime(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const text = String(value);
  if (text.length > MAX_LENGTH) return undefined;
  if (SECONDS.test(text)) return toText(Number(text) * 1_000);
  if (MILLISECONDS.test(text)) return toText(Number(text));
  if (HTTP_DATE.test(text)) return toText(parseHttpDate(text));
  const written = rewrite(text);
  return written !== undefined && parseTimestamp(written) !== undefined ? written : undefined;
}

/** NaN for a day that does not exist, which `Date` moves into the next month. */
function parseHttpDate(text: string): number {
  const [, day, month = "", year] = text.split(" ");
  const index = MONTHS.findIndex((name) => name.startsWith(month));
  const last = new Date(Date.UTC(Number(year), index + 1, 0)).getUTCDate();
  return Number(day) > last ? Number.NaN : Date.parse(text);
}

function rewrite(text: string): string | undefined {
  const {
    date,
    minutes,
    seconds = ":00",
    fraction,
    sign,
    rest = ":00",
  } = ALMOST.exec(text)?.groups ?? {};
  if (date === undefined || minutes === undefined || sign === undefined) return undefined;
  const decimals = fraction === undefined ? "" : `.${fraction}`;
  const isUtc = sign.toUpperCase() === "Z";
  const offset = isUtc ? "Z" : `${sign}:${rest.replace(":", "")}`;
  return `${date}T${minutes}${seconds}${decimals}${offset}`;
}

function toText(ms: number): string | undefined {
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().replace(".000Z", "Z");
}
