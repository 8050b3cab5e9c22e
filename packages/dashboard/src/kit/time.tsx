import { ownZone, useSettings } from "../settings/settings.ts";
import { clockOf, dayOf, distanceOf, fullOf, nearDayOf } from "../time/format-time.ts";
import { toZoned } from "../time/place-in-zone.ts";
import { offsetOf, placeOf } from "../time/place-names.ts";
import { useNow } from "../time/use-now.ts";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import css from "./time.module.css";

interface TimeProps {
  /** As the API writes it. */
  readonly at: string;
  /** `clock` under a head that says the day; `day` with the date even when it is today. */
  readonly show?: "near" | "clock" | "day" | undefined;
  /** Without the place, under a head that says it. */
  readonly isPlaced?: boolean | undefined;
  /** Another zone than the one of the reader, such as that of a queue rule. */
  readonly zone?: string | undefined;
}

/** A time with its place. The tooltip has seconds, offset, a second zone, UTC and the distance. */
export function Time({ at, show = "near", isPlaced = true, zone }: TimeProps) {
  const words = useWords(kitWords);
  const settings = useSettings();
  const { language } = settings;
  const shownZone = zone ?? settings.zone;
  const now = useNow();
  const zoned = toZoned(at, shownZone);
  const zonedNow = now.toZonedDateTimeISO(shownZone);
  const day =
    show === "day"
      ? dayOf(zoned, zonedNow, language)
      : nearDayOf(zoned, zonedNow, { language, words });
  return (
    <time className={css.time} dateTime={at} title={useTooltip(zoned)}>
      {show !== "clock" && `${day}, `}
      {isPlaced ? (
        <>
          <b>{clockOf(zoned, language)}</b> <i>{placeOf(shownZone, language)}</i>
        </>
      ) : (
        clockOf(zoned, language)
      )}
    </time>
  );
}

function useTooltip(zoned: Temporal.ZonedDateTime): string {
  const words = useWords(kitWords);
  const { language, zone } = useSettings();
  const ms = zoned.epochMilliseconds - useNow().epochMilliseconds;
  const distance = distanceOf(ms, words.distance);
  const others = [zone, ownZone(), "UTC"].filter((other) => other !== zoned.timeZoneId);
  const clocks = [...new Set(others)].map(
    (other) => `${clockOf(zoned.withTimeZone(other), language)} ${placeOf(other, language)}`,
  );
  const place = `${placeOf(zoned.timeZoneId, language)} (${offsetOf(zoned)})`;
  const far = ms < 0 ? words.ago(distance) : words.inTime(distance);
  return `${fullOf(zoned, language)} ${place}\n${[...clocks, far].join(" · ")}`;
}
