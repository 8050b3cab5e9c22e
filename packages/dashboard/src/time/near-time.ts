import { type Language, useSettings } from "../settings/settings.ts";
import { clockOf, dayOf } from "./format-time.ts";
import { toZoned } from "./place-in-zone.ts";
import { placeOf } from "./place-names.ts";
import { useNow } from "./use-now.ts";

/** "18:00 Seoul", with the day where it is another one: "Wed 25 Nov, 09:00 Seoul". */
export function nearTimeOf(
  at: Temporal.ZonedDateTime,
  now: Temporal.ZonedDateTime,
  language: Language,
): string {
  const clock = `${clockOf(at, language)} ${placeOf(at.timeZoneId, language)}`;
  const isToday = at.toPlainDate().equals(now.toPlainDate());
  return isToday ? clock : `${dayOf(at, now, language)}, ${clock}`;
}

/** A time of the server inside a sentence or a button. */
export function useNearTime(): (at: string) => string {
  const { language, zone } = useSettings();
  const now = useNow().toZonedDateTimeISO(zone);
  return (at) => nearTimeOf(toZoned(at, zone), now, language);
}
