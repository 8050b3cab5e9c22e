import { beforeAll, expect, test } from "vitest";
import { kitEn, kitKo } from "../words/kit-words.ts";
import {
  clockElsewhere,
  clockOf,
  dayHeadOf,
  dayOf,
  distanceOf,
  durationOf,
  fullOf,
  nearDayOf,
  dateOf,
  spanOf,
} from "./format-time.ts";
import { loadTemporal } from "./load-temporal.ts";
import { toZoned } from "./place-in-zone.ts";
import { offsetOf, placeOf } from "./place-names.ts";

beforeAll(loadTemporal);

const NOW = "2026-11-24T05:05:00Z";
const seoul = (instant: string) => toZoned(instant, "Asia/Seoul");
const en = { language: "en", words: kitEn } as const;
const ko = { language: "ko", words: kitKo } as const;

test("a day is today, tomorrow or yesterday by the calendar of the zone, not by 24 hours", () => {
  const day = (instant: string) => nearDayOf(seoul(instant), seoul(NOW), en);
  expect(day("2026-11-24T14:59:00Z")).toBe("Today");
  expect(day("2026-11-24T15:00:00Z")).toBe("Tomorrow");
  expect(day("2026-11-23T14:59:00Z")).toBe("Yesterday");
  expect(day("2026-11-27T09:00:00Z")).toBe("Fri 27 Nov");
});

test("a day beyond six months has its year", () => {
  expect(dayOf(seoul("2027-03-28T01:00:00Z"), seoul(NOW), "en")).toBe("Sun 28 Mar");
  expect(dayOf(seoul("2027-06-28T01:00:00Z"), seoul(NOW), "en")).toBe("Mon 28 Jun 2027");
  expect(dayOf(seoul("2026-05-01T01:00:00Z"), seoul(NOW), "en")).toBe("Fri 1 May 2026");
});

test("the head of a list names tomorrow and its date", () => {
  expect(dayHeadOf(seoul("2026-11-25T00:30:00Z"), seoul(NOW), en)).toBe("Tomorrow, Wed 25 Nov");
  expect(dayHeadOf(seoul("2026-11-25T00:30:00Z"), seoul(NOW), ko)).toBe("내일, 11월 25일 (수)");
  expect(dayHeadOf(seoul("2026-11-23T00:30:00Z"), seoul(NOW), en)).toBe("Mon 23 Nov");
});

test("Korean dates have the weekday in brackets, and clocks count 24 hours", () => {
  const at = seoul("2026-11-27T09:00:00Z");
  expect(`${dayOf(at, seoul(NOW), "ko")} ${clockOf(at, "ko")}`).toBe("11월 27일 (금) 18:00");
  expect(fullOf(at, "ko")).toBe("2026년 11월 27일 (금), 18:00:00");
});

test("places are the last part of the zone, in Korean a name where there is one", () => {
  expect(placeOf("America/New_York", "en")).toBe("New York");
  expect(placeOf("America/New_York", "ko")).toBe("뉴욕");
  expect(placeOf("Europe/Oslo", "ko")).toBe("Oslo");
  expect(placeOf("UTC", "ko")).toBe("UTC");
});

test.each([
  ["Asia/Seoul", "UTC+9"],
  ["America/New_York", "UTC−5"],
  ["Asia/Kolkata", "UTC+5:30"],
  ["Europe/London", "UTC"],
])("the offset of %s is %s", (zone, offset) => {
  expect(offsetOf(toZoned(NOW, zone))).toBe(offset);
});

test("a time in another zone names its weekday where that is another day there", () => {
  const early = toZoned("2026-11-29T18:39:00Z", "Asia/Seoul");
  // The clock is that of the own locale.
  expect(clockElsewhere(early, "UTC", "en")).toMatch(/^Sun /);
  expect(clockElsewhere(early, "UTC", "ko")).toBe("(일) 18:39");
  expect(clockElsewhere(toZoned(NOW, "Asia/Seoul"), "UTC", "ko")).toBe("05:05");
});

test("a distance has its two largest units, and leaves out one that is zero", () => {
  const distance = (seconds: number) => distanceOf(seconds * 1000, kitEn.distance);
  expect(distance(3 * 86_400 + 4 * 3600 + 55 * 60)).toBe("3 d 4 h");
  expect(distance(7200)).toBe("2 h");
  expect(distance(-58)).toBe("58 s");
  expect(distance(0)).toBe("0 s");
});

test("a duration has a decimal below a minute, ms where that would be zero, and the unit of the language", () => {
  expect(durationOf(24, kitEn.distance)).toBe("24 ms");
  expect(durationOf(320, kitEn.distance)).toBe("0.3 s");
  expect(durationOf(30_000, kitEn.distance)).toBe("30.0 s");
  expect(durationOf(195_000, kitEn.distance)).toBe("3 min 15 s");
  expect(durationOf(520, kitKo.distance)).toBe("0.5초");
});

test("a span of days and a day fit on a phone: with short months, without the year, in Korean in numbers", () => {
  const days = [
    Temporal.PlainDate.from("2026-11-23"),
    Temporal.PlainDate.from("2026-12-06"),
  ] as const;
  // Intl puts thin spaces around the dash.
  expect(spanOf(days, "en", false)).toMatch(/^23 November\s–\s6 December 2026$/u);
  expect(spanOf(days, "en", true)).toMatch(/^23 Nov\s–\s6 Dec$/u);
  expect(spanOf(days, "ko", true)).not.toContain("2026");
  expect(dateOf(days[1], "en", true)).toBe("6 Dec");
  expect(dateOf(days[1], "ko", true)).toBe("12. 6.");
  expect(dateOf(days[1], "ko")).toBe("12월 6일");
});
