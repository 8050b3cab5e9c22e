import { Calendar, ChevronDown } from "lucide-react";
import { useId } from "react";
import { classNames } from "../kit/class-names.ts";
import { Input } from "../kit/field.tsx";
import { ZoneCombobox } from "../kit/zone-combobox.tsx";
import { hasForeignFields, type Language, useSettings } from "../settings/settings.ts";
import { clockOf, fullDayOf } from "../time/format-time.ts";
import {
  LAST_DATE,
  parseDate,
  type Placement,
  placeInZone,
  toZoned,
} from "../time/place-in-zone.ts";
import { placeOf } from "../time/place-names.ts";
import { useWords } from "../words/use-words.ts";
import css from "./date-time-fields.module.css";
import { postWords } from "./post-words.ts";

/** A wall clock reading as it is typed; `date` and `time` can be unfinished. */
export interface Reading {
  readonly date: string;
  readonly time: string;
  readonly zone: string;
}

const STEP_MINUTES = 60;

/** The time of the post, or the next full hour: a draft has none. */
export function firstReading(scheduledAt: string | null, zone: string): Reading {
  const now = Temporal.Now.zonedDateTimeISO(zone);
  const at =
    scheduledAt === null
      ? now.add({ minutes: STEP_MINUTES }).round({ smallestUnit: "hour", roundingMode: "floor" })
      : toZoned(scheduledAt, zone);
  const time = at.toPlainTime().toString({ smallestUnit: "minute" });
  return { date: at.toPlainDate().toString(), time, zone };
}

/** Where the reading lies in time; undefined while it is unfinished. */
export function placeReading({ date, time, zone }: Reading): Placement | undefined {
  const day = parseDate(date);
  if (day === undefined || time === "") return undefined;
  return placeInZone(day.toPlainDateTime(Temporal.PlainTime.from(time)), zone);
}

interface DateTimeFieldsProps {
  readonly reading: Reading;
  readonly onChange: (reading: Reading) => void;
}

/** Date, time and place: the browser's own fields, which every reader knows how to use. */
export function DateTimeFields({ reading, onChange }: DateTimeFieldsProps) {
  const words = useWords(postWords).move;
  const { language } = useSettings();
  const { time, zone } = reading;
  const described = useId();
  return (
    <div className={css.fields}>
      <DateField reading={reading} onChange={onChange} described={described} />
      <Input
        type="time"
        aria-label={words.time}
        aria-describedby={described}
        className={classNames("num", css.time)}
        data-place="time"
        value={time}
        onChange={({ target }) => onChange({ ...reading, time: target.value })}
      />
      <ZoneCombobox
        label={words.place}
        value={zone}
        onChange={(chosen) => onChange({ ...reading, zone: chosen })}
        trigger={(props) => (
          <button
            type="button"
            className={css.box}
            aria-label={words.changePlace(placeOf(zone, language))}
            {...props}
          >
            {placeOf(zone, language)}
            <ChevronDown className="i i-s" aria-hidden="true" />
          </button>
        )}
      />
      <InWords id={described} reading={reading} />
    </div>
  );
}

/** As the page writes the time at which it goes out; undefined while it is unfinished. */
export function readingInWords(reading: Reading, language: Language): string | undefined {
  const at = placeReading(reading)?.at;
  if (at === undefined) return undefined;
  const place = placeOf(reading.zone, language);
  return `${fullDayOf(at, language)}, ${clockOf(at, language)} ${place}`;
}

/** It is seen where the browser's fields have another form. */
function InWords({ id, reading }: { readonly id: string; readonly reading: Reading }) {
  const { language } = useSettings();
  return (
    <span id={id} className={hasForeignFields(language) ? "xs muted num" : "sr"}>
      {readingInWords(reading, language)}
    </span>
  );
}

interface DateFieldProps extends DateTimeFieldsProps {
  /** The id of the text with the time in words. */
  readonly described: string;
}

/** While the field does not have the focus, its date is read in words, with the weekday. */
function DateField({ reading, onChange, described }: DateFieldProps) {
  const words = useWords(postWords).move;
  const { language } = useSettings();
  const noon = placeReading({ ...reading, time: "12:00" })?.at;
  return (
    <span className={classNames(css.box, css.date)}>
      <Calendar className="i" aria-hidden="true" />
      <span className="num" aria-hidden="true">
        {noon === undefined ? words.date : fullDayOf(noon, language)}
      </span>
      <input
        type="date"
        max={LAST_DATE}
        aria-label={words.date}
        aria-describedby={described}
        value={reading.date}
        onChange={({ target }) => onChange({ ...reading, date: target.value })}
        onClick={({ currentTarget }) => currentTarget.showPicker()}
      />
    </span>
  );
}
