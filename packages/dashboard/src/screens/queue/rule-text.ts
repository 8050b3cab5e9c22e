import type { QueueSlotRule } from "@postrider/client";
import type { Language } from "../../settings/settings.ts";
import { dateOf, weekdayOf } from "../../time/format-time.ts";
import type { queueEn } from "./queue-words.ts";

export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

export type Weekday = (typeof WEEKDAYS)[number];

/** A Monday, from which the names of the weekdays are taken. */
const MONDAY = "2026-01-05";

export function weekdayName(weekday: Weekday, language: Language): string {
  const day = Temporal.PlainDate.from(MONDAY).add({ days: WEEKDAYS.indexOf(weekday) });
  return weekdayOf(day, language);
}

type QueueWords = typeof queueEn;

/** "Every day", "Mon to Fri", or "Wed, Fri": three days or more in a row are a range. */
export function weekdaysText(
  weekdays: readonly Weekday[],
  language: Language,
  words: QueueWords,
): string {
  const chosen = WEEKDAYS.filter((weekday) => weekdays.includes(weekday));
  if (chosen.length === WEEKDAYS.length) return words.everyDay;
  const name = (weekday: Weekday) => weekdayName(weekday, language);
  const [first, last] = [chosen[0], chosen.at(-1)];
  if (first === undefined || last === undefined) return "";
  const isRow = WEEKDAYS.indexOf(last) - WEEKDAYS.indexOf(first) === chosen.length - 1;
  if (isRow && chosen.length > 2) return words.dayRange(name(first), name(last));
  return chosen.map(name).join(", ");
}

/** "Mon to Fri at 09:30", in the zone of the rule, with its first and last day. */
export function meaningOf(rule: QueueSlotRule, language: Language, words: QueueWords): string {
  const days = weekdaysText(rule.weekdays, language, words);
  return words.meaning(days, rule.times.toSorted().join(", ")) + datesText(rule, language, words);
}

function datesText({ startsOn, endsOn }: QueueSlotRule, language: Language, words: QueueWords) {
  const date = (text: string) => dateOf(Temporal.PlainDate.from(text), language);
  if (startsOn !== null && endsOn !== null) return words.fromTo(date(startsOn), date(endsOn));
  if (startsOn !== null) return words.from(date(startsOn));
  return endsOn === null ? "" : words.until(date(endsOn));
}

export function hasEnded({ endsOn, timezone }: QueueSlotRule, now: Temporal.Instant): boolean {
  return endsOn !== null && endsOn < now.toZonedDateTimeISO(timezone).toPlainDate().toString();
}
