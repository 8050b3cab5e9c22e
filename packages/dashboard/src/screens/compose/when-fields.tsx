import { ClockArrowUp } from "lucide-react";
import { Link } from "wouter";
import { classNames } from "../../kit/class-names.ts";
import { Checkbox } from "../../kit/field.tsx";
import { Segments } from "../../kit/segments.tsx";
import { Time } from "../../kit/time.tsx";
import { DateTimeFields, placeReading } from "../../posts/date-time-fields.tsx";
import { ownZone, useSettings } from "../../settings/settings.ts";
import { clockElsewhere, clockOf, distanceOf } from "../../time/format-time.ts";
import { offsetOf, placeOf } from "../../time/place-names.ts";
import { useNow } from "../../time/use-now.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { composeWords } from "./compose-words.ts";
import css from "./compose.module.css";
import { useComposition } from "./composition.ts";
import { timeOfWhen, type When } from "./when.ts";

interface WhenFieldsProps {
  /** When the next free slot of the queue is. */
  readonly slot: string | undefined;
}

function useWhen() {
  const { draft, change } = useComposition();
  return {
    when: draft.when,
    set: (changes: Partial<When>) =>
      change((before) => ({ ...before, when: { ...before.when, ...changes } })),
  };
}

/** Now, the next slot, or a time with its zone. */
export function WhenFields({ slot }: WhenFieldsProps) {
  const words = useWords(composeWords);
  const { when, set } = useWhen();
  return (
    <>
      <Segments
        label={words.when}
        value={when.kind}
        segments={[
          { value: "now", label: words.whens.now },
          { value: "slot", label: words.whens.slot },
          { value: "at", label: words.whens.at },
        ]}
        onChange={(kind) => set({ kind })}
      />
      {when.kind === "at" && <AtTime />}
      {when.kind === "slot" && (
        <span className="sm" data-place="time" tabIndex={-1}>
          {slot === undefined ? (
            <>
              {words.noSlot} <Link href="/queue">{words.toQueue}</Link>
            </>
          ) : (
            <Time at={slot} />
          )}
        </span>
      )}
      {when.kind === "at" && <ClockChange />}
    </>
  );
}

function AtTime() {
  const { when, set } = useWhen();
  return (
    <div className={css.when}>
      <DateTimeFields reading={when} onChange={(reading) => set({ ...reading, later: false })} />
      <AlsoThere />
    </div>
  );
}

/** The same moment in the reader's own zone, and how far it is. */
function AlsoThere() {
  const words = useWords(composeWords);
  const kit = useWords(kitWords);
  const { language, zone } = useSettings();
  const now = useNow();
  const { when } = useWhen();
  const at = timeOfWhen(when);
  if (at === undefined) return <span className={css.bad}>{words.noTime}</span>;
  const ms = at.epochMilliseconds - now.epochMilliseconds;
  if (ms < 0) return <span className={css.bad}>{words.past}</span>;
  const other = [zone, ownZone(), "UTC"].find((each) => each !== when.zone) ?? "UTC";
  const clock = `${clockElsewhere(at, other, language)} ${placeOf(other, language)}`;
  return (
    <span className={classNames("xs muted num", css.also)}>
      {clock} · {kit.inTime(distanceOf(ms, kit.distance))}
    </span>
  );
}

/** What happens to a reading that does not exist, and which one of two is meant. */
function ClockChange() {
  const words = useWords(composeWords);
  const { language } = useSettings();
  const { when, set } = useWhen();
  const placed = placeReading(when);
  if (placed === undefined || placed.kind === "exact") return null;
  const place = placeOf(when.zone, language);
  return (
    <div className={css.clockChange} role="status">
      <ClockArrowUp className="i" aria-hidden="true" />
      {placed.kind === "gap" ? (
        <span>
          <b>{words.gap(when.time)}</b> {words.gapHint(clockOf(placed.at, language), place)}
        </span>
      ) : (
        <>
          <b>{words.doubled(when.time)}</b>
          {[placed.at, placed.later].map((at, index) => (
            <Checkbox
              key={at.offset}
              type="radio"
              name="doubled"
              checked={when.later === (index === 1)}
              onChange={() => set({ later: index === 1 })}
            >
              {index === 0 ? words.first : words.second} ({offsetOf(at)})
            </Checkbox>
          ))}
        </>
      )}
    </div>
  );
}
