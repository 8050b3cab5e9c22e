import { ownZone, type Settings, useSettings } from "../settings/settings.ts";
import {
  clockElsewhere,
  clockOf,
  dayOf,
  distanceOf,
  fullOf,
  nearDayOf,
} from "../time/format-time.ts";
import { toZoned } from "../time/place-in-zone.ts";
import { offsetOf, placeOf } from "../time/place-names.ts";
import { useNow } from "../time/use-now.ts";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { classNames } from "./class-names.ts";
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
  readonly className?: string | undefined;
}

/**
 * A time with its place. The tooltip has seconds, offset, a second zone, UTC and the distance; it
 * is written when the pointer comes, since writing it takes longer than drawing the row around it.
 */
export function Time({ at, show = "near", isPlaced = true, zone, className }: TimeProps) {
  const words = useWords(kitWords);
  const settings = useSettings();
  const { language } = settings;
  const zoned = toZoned(at, zone ?? settings.zone);
  return (
    <time
      className={classNames(css.time, className)}
      dateTime={at}
      onPointerEnter={({ currentTarget }) => {
        currentTarget.title = tooltipOf(zoned, settings, words);
      }}
    >
      {show !== "clock" && <Day zoned={zoned} show={show} />}
      {isPlaced ? (
        <>
          <b>{clockOf(zoned, language)}</b> <i>{placeOf(zoned.timeZoneId, language)}</i>
        </>
      ) : (
        clockOf(zoned, language)
      )}
    </time>
  );
}

interface DayProps {
  readonly zoned: Temporal.ZonedDateTime;
  readonly show: "near" | "day";
}

function Day({ zoned, show }: DayProps) {
  const words = useWords(kitWords);
  const { language } = useSettings();
  const now = useNow().toZonedDateTimeISO(zoned.timeZoneId);
  const day =
    show === "day" ? dayOf(zoned, now, language) : nearDayOf(zoned, now, { language, words });
  return `${day}, `;
}

function tooltipOf(
  zoned: Temporal.ZonedDateTime,
  { language, zone }: Settings,
  words: (typeof kitWords)["en"],
): string {
  const ms = zoned.epochMilliseconds - Date.now();
  const distance = distanceOf(ms, words.distance);
  const others = [zone, ownZone(), "UTC"].filter((other) => other !== zoned.timeZoneId);
  const clocks = [...new Set(others)].map(
    (other) => `${clockElsewhere(zoned, other, language)} ${placeOf(other, language)}`,
  );
  const place = `${placeOf(zoned.timeZoneId, language)} (${offsetOf(zoned)})`;
  const far = ms < 0 ? words.ago(distance) : words.inTime(distance);
  return `${fullOf(zoned, language)} ${place}\n${[...clocks, far].join(" · ")}`;
}
