import type { Locale } from "@postrider/rest/locale";
import type { Violation } from "@postrider/shared/errors";
import type { RequestViolation } from "#src/http/schema-faults.ts";

const FOUND_TYPES: Readonly<Record<Locale, ReadonlyMap<string, string>>> = {
  en: new Map([
    ["array", "a list"],
    ["object", "an object"],
    ["string", "a string"],
    ["number", "a number"],
  ]),
  ko: new Map([
    ["array", "목록"],
    ["object", "객체"],
    ["string", "문자열"],
    ["number", "숫자"],
  ]),
};
const NOUNS: Readonly<Record<Locale, Readonly<Record<string, string>>>> = {
  en: { query: "parameter", header: "header" },
  ko: { query: "매개변수", header: "헤더" },
};

const UNITS: Readonly<Record<Locale, Readonly<Record<string, string>>>> = {
  en: {
    characters: "characters",
    utf16_units: "UTF-16 units",
    weighted_characters: "weighted characters",
    bytes: "bytes",
    graphemes: "graphemes",
  },
  ko: {
    characters: "자",
    utf16_units: "UTF-16 단위",
    weighted_characters: "가중 글자",
    bytes: "바이트",
    graphemes: "자소",
  },
};
/** Unit of a text's length when a violation names none. */
const DEFAULT_UNIT = "characters";

function nameUnit(unit: string, locale: Locale): string {
  return UNITS[locale][unit] ?? unit;
}

function toChoice(allowed: readonly string[], locale: Locale): string | undefined {
  const values = allowed.join(", ");
  if (allowed.length < 2) return allowed[0];
  return locale === "en" ? `one of ${values}` : `${values} 중 하나`;
}

/** Returns the parameters of the error message, such as the limit. */
export function paramsOf(violation: RequestViolation, locale: Locale) {
  const { expected, found = "", status, reason, postId, allowed = [], cell, address } = violation;
  return {
    ...numbersOf(violation),
    unit: nameUnit(violation.unit ?? DEFAULT_UNIT, locale),
    expected,
    found: FOUND_TYPES[locale].get(found) ?? (found === "" ? undefined : found),
    noun: NOUNS[locale][violation.in ?? ""],
    status,
    reason,
    postId,
    allowed: allowed.length === 0 ? undefined : allowed.join(", "),
    choice: toChoice(allowed, locale),
    resetsAt: toTime(violation.resetsAt),
    plannedAt: toTime(violation.plannedAt),
    cell,
    address,
  };
}

export function numbersOf(violation: Violation) {
  return {
    limit: violation.limit,
    actual: violation.actual,
    used: toNumber(violation.used),
    reserved: toNumber(violation.reserved),
    requested: toNumber(violation.requested),
  };
}

function toNumber(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

export function toTime(time: Violation["resetsAt"]): string | undefined {
  if (time === undefined) return undefined;
  const milliseconds = Number(time.seconds ?? 0n) * 1000 + Math.floor((time.nanos ?? 0) / 1e6);
  return new Date(milliseconds).toISOString();
}
