import { timestampFromDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { invalidRequest } from "@postrider/shared/errors";

const RFC_3339 =
  /^(?<date>\d{4}-\d{2}-\d{2})[Tt](?<time>\d{2}:\d{2}:\d{2})(?:\.(?<fraction>\d+))?(?<offset>[Zz]|[+-]\d{2}:?\d{2})$/;

const DATE = /^\d{4}-\d{2}-\d{2}$/;

type TimeParts = { date: string; time: string; fraction?: string; offset: string };

/**
 * First and last instant that Postgres, its driver, protobuf and RFC 3339 can all represent. The
 * first year is 100, because the driver reads the years 1 to 99 as years of the 20th or 21st
 * century.
 */
const EARLIEST_MS = Date.parse("0100-01-01T00:00:00.000Z");
const LATEST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Parses an RFC 3339 time with an offset, cut to milliseconds. The offset may also lack its colon,
 * as `strftime("%z")` of C and Python writes it. Returns undefined for any other text, and for
 * dates and times that do not exist, such as leap seconds.
 */
export function parseTimestamp(text: string): Date | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const { date, time, fraction = "", offset: written } = match.groups as TimeParts;
  const offset = written.replace(/^([+-]\d{2})(\d{2})$/, "$1:$2");
  if (!isDay(date) || !isTime(time) || !isOffset(offset)) return undefined;
  const decimals = fraction.slice(0, 3).padEnd(3, "0");
  const instant = new Date(`${date}T${time}.${decimals}${offset.toUpperCase()}`);
  return isInRange(instant.getTime()) ? instant : undefined;
}

/** Whether the text is a date that exists, such as `2026-11-20`. Year 0 does not exist. */
export function isDate(text: string): boolean {
  return DATE.test(text) && !text.startsWith("0000") && isDay(text);
}

function isInRange(ms: number): boolean {
  return ms >= EARLIEST_MS && ms <= LATEST_MS;
}

/** Node reads February 30 as March 2: a date exists only if Node writes it back unchanged. */
function isDay(date: string): boolean {
  const day = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date);
}

function isTime(time: string): boolean {
  const [hours, minutes, seconds] = time.split(":").map(Number);
  return Number(hours) <= 23 && Number(minutes) <= 59 && Number(seconds) <= 59;
}

function isOffset(offset: string): boolean {
  return offset.length === 1 || isTime(`${offset.slice(1)}:00`);
}

/**
 * Parses the timestamp of a request field.
 *
 * @throws `invalid_request` for a text that the schema should have refused.
 */
export function fromInstant(path: string, text: string): Timestamp {
  const instant = parseTimestamp(text);
  if (instant === undefined) throw invalidRequest([{ code: "format", path }]);
  return timestampFromDate(instant);
}
