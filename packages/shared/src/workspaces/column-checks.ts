import { isObject } from "#src/is-object.ts";

export type ImportedRow = Readonly<Record<string, unknown>>;

/**
 * Whether an import takes a value of a column, which is not null. `row` is the row that it is from,
 * of which the other values may not be valid.
 */
export type ColumnCheck = (value: unknown, row: ImportedRow) => boolean;

/** A whole number. */
export function between(min: number, max: number): ColumnCheck {
  return (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}

/** @param max Maximum number of UTF-16 units. */
export function text(max: number, isValid: (text: string) => boolean = () => true): ColumnCheck {
  return (value) => typeof value === "string" && value.length <= max && isValid(value);
}

export function oneOf(...values: readonly string[]): ColumnCheck {
  return (value) => values.includes(value as string);
}

export function list(max: number, check: ColumnCheck): ColumnCheck {
  return (value, row) =>
    Array.isArray(value) && value.length <= max && value.every((each) => check(each, row));
}

/** Names are those of fields, platforms and ids. */
const MAX_NAME_LENGTH = 100;

/** An object in JSON, whose names the service or the platform chose. */
export function record(max: number, check: ColumnCheck): ColumnCheck {
  return (value, row) => {
    const all = isObject(value) ? Object.entries(value) : undefined;
    if (all === undefined || all.length > max) return false;
    return all.every(([name, each]) => name.length <= MAX_NAME_LENGTH && check(each, row));
  };
}

/** The smallest fraction that is written without an exponent. */
const MIN_FRACTION = 1e-6;
/** Nothing that is stored has more. */
const MAX_LEVELS = 10;

/**
 * Postgres stores a number with its exponent and writes it with all digits, of which 1e100000 has
 * 100,000; a number that is taken has at most some twenty.
 */
function isShortNumber(value: number): boolean {
  const size = Math.abs(value);
  return size === 0 || (size >= MIN_FRACTION && size <= Number.MAX_SAFE_INTEGER);
}

/** What a column with JSON may hold at most. */
export function isJson(value: unknown, levels = MAX_LEVELS): boolean {
  if (typeof value === "number") return isShortNumber(value);
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((each) => isJson(each, levels - 1));
}

/** Settings of an account and facts about a file are some hundred bytes. */
const MAX_OBJECT_BYTES = 4 * 1024;

/** An object in JSON with any values. */
export const anyObject: ColumnCheck = (value) =>
  isObject(value) && jsonBytes(value) <= MAX_OBJECT_BYTES;

/** JSON without white space, counted in bytes of UTF-8. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** All texts in the value together, counted in bytes of UTF-8. */
export function textBytes(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + textBytes(each), 0);
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+(?:[+-][\d:]+|Z)$/;
const FIRST_MS = Date.parse("0001-01-01T00:00:00Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** What JavaScript and Postgres both read, in the range of a Timestamp of Protobuf. */
export function isInstant(value: unknown): boolean {
  if (typeof value !== "string" || !INSTANT.test(value)) return false;
  const at = Date.parse(value);
  return at >= FIRST_MS && at <= LAST_MS;
}

/** Before this software, and before anything that a platform says. */
const EARLIEST_MS = Date.parse("2000-01-01T00:00:00Z");
/** A post is scheduled at most a year ahead. */
const MAX_AHEAD_MS = 3 * 365 * 86_400_000;

/**
 * An instant that something has happened at, or will. Others may not fit into an id that begins
 * with a time, or into a year of four digits once something is added to them.
 */
export const isNear: ColumnCheck = (value) => {
  const at = Date.parse(String(value));
  return isInstant(value) && at >= EARLIEST_MS && at <= Date.now() + MAX_AHEAD_MS;
};

/** A day that exists; Postgres has no year 0. */
export function isDay(value: unknown): boolean {
  if (typeof value !== "string" || !DAY.test(value) || value.startsWith("0000")) return false;
  const at = new Date(value);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(value);
}
