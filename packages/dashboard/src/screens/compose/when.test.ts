import { beforeAll, expect, test } from "vitest";
import { placeReading, readingInWords } from "../../posts/date-time-fields.tsx";
import { loadTemporal } from "../../time/load-temporal.ts";
import { firstWhen, scheduledAtOf, type When, whenAt } from "./when.ts";

beforeAll(loadTemporal);

const BERLIN = "Europe/Berlin";
const at = (date: string, time: string, more: Partial<When> = {}): When => ({
  kind: "at",
  date,
  time,
  zone: BERLIN,
  later: false,
  ...more,
});

test("the next full hour is proposed, also over midnight", () => {
  const now = Temporal.ZonedDateTime.from("2026-11-27T23:05[Asia/Seoul]");
  expect(firstWhen(now)).toMatchObject({ date: "2026-11-28", time: "00:00", kind: "now" });
});

test("a time that does not exist goes out at the first instant after it", () => {
  const when = at("2027-03-28", "02:30");
  expect(placeReading(when)?.kind).toBe("gap");
  expect(scheduledAtOf(when)).toBe("2027-03-28T01:00:00.000Z");
});

test("a time is written in words as the one at which the post goes out", () => {
  const words = (time: string) => readingInWords(at("2027-03-28", time), "en");
  expect(words("02:30")).toBe(words("03:00"));
  expect(words("02:30")).toMatch(/^Sun 28 Mar 2027, 0?3:00.* Berlin$/);
  expect(words("")).toBeUndefined();
});

test("a date with a year of five digits is an incomplete time", () => {
  expect(scheduledAtOf(at("20261-03-01", "02:30"))).toBeUndefined();
});

test("of a time that comes twice, the one that was chosen is sent", () => {
  expect(scheduledAtOf(at("2027-10-31", "02:30"))).toBe("2027-10-31T00:30:00.000Z");
  expect(scheduledAtOf(at("2027-10-31", "02:30", { later: true }))).toBe(
    "2027-10-31T01:30:00.000Z",
  );
});

test.each(["2027-10-31T00:30:00.000Z", "2027-10-31T01:30:00.000Z", "2026-11-27T09:00:00.000Z"])(
  "the time of a post that is edited and not changed is the same: %s",
  (instant) => {
    expect(scheduledAtOf(whenAt(instant, BERLIN))).toBe(instant);
  },
);

test("an incomplete time is not sent, and neither is one with now", () => {
  expect(scheduledAtOf(at("", "02:30"))).toBeUndefined();
  expect(scheduledAtOf(at("2027-10-31", ""))).toBeUndefined();
  expect(scheduledAtOf(at("2027-10-31", "02:30", { kind: "now" }))).toBeUndefined();
});
