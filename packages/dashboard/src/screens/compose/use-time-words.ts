import { useSettings } from "../../settings/settings.ts";
import { clockOf, dayOf } from "../../time/format-time.ts";
import { useNow } from "../../time/use-now.ts";

/** "Fri 27 Nov, 18:00", for buttons. */
export function useTimeWords(): (at: Temporal.ZonedDateTime) => string {
  const { language } = useSettings();
  const now = useNow();
  return (at) =>
    `${dayOf(at, now.toZonedDateTimeISO(at.timeZoneId), language)}, ${clockOf(at, language)}`;
}
