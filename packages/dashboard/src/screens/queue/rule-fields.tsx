import type { QueueSlotRule } from "@postrider/client";
import { ChevronDown, Globe, Plus, X } from "lucide-react";
import { Button } from "../../kit/button.tsx";
import { Checkbox, Field, FieldError, Input } from "../../kit/field.tsx";
import { ZoneCombobox } from "../../kit/zone-combobox.tsx";
import { hasForeignFields, type Language, useSettings } from "../../settings/settings.ts";
import { fullDayOf } from "../../time/format-time.ts";
import { LAST_DATE, parseDate } from "../../time/place-in-zone.ts";
import { placeOf } from "../../time/place-names.ts";
import { useWords } from "../../words/use-words.ts";
import { queueWords, type queueEn } from "./queue-words.ts";
import css from "./queue.module.css";
import { type Weekday, weekdayName, WEEKDAYS } from "./rule-text.ts";

/** A rule as it is typed; dates can be empty. */
export interface RuleDraft {
  readonly name: string;
  readonly weekdays: readonly Weekday[];
  readonly times: readonly string[];
  readonly timezone: string;
  readonly startsOn: string;
  readonly endsOn: string;
}

export interface RuleFaults {
  readonly name?: string | undefined;
  readonly weekdays?: string | undefined;
  readonly times?: string | undefined;
  readonly endsOn?: string | undefined;
}

const MAX_TIMES = 48;

const WORKDAYS = ["mon", "tue", "wed", "thu", "fri"] as const;

export function draftOf(rule: QueueSlotRule | undefined, timezone: string): RuleDraft {
  const none = { startsOn: "", endsOn: "" };
  if (rule === undefined)
    return { name: "", weekdays: WORKDAYS, times: ["09:30"], timezone, ...none };
  const { name, weekdays, times, startsOn, endsOn } = rule;
  const dates = { startsOn: startsOn ?? "", endsOn: endsOn ?? "" };
  return { name, weekdays, times, timezone: rule.timezone, ...dates };
}

/** The body of a creation. */
export function bodyOf({ name, startsOn, endsOn, ...rest }: RuleDraft) {
  const dateOf = (date: string) => (date === "" ? null : date);
  return { ...rest, name: name.trim(), startsOn: dateOf(startsOn), endsOn: dateOf(endsOn) };
}

export function faultsOf(draft: RuleDraft, words: typeof queueEn): RuleFaults {
  const { name, weekdays, times, startsOn, endsOn } = draft;
  const areTimesFine =
    times.length > 0 && !times.includes("") && new Set(times).size === times.length;
  return {
    name: name.trim() === "" ? words.nameFault : undefined,
    weekdays: weekdays.length === 0 ? words.weekdaysFault : undefined,
    times: areTimesFine ? undefined : words.timesFault,
    endsOn: endsOn !== "" && endsOn < startsOn ? words.lastFault : undefined,
  };
}

interface RuleFieldsProps {
  readonly draft: RuleDraft;
  readonly faults: RuleFaults;
  readonly onChange: (draft: RuleDraft) => void;
}

export function RuleFields({ draft, faults, onChange }: RuleFieldsProps) {
  const words = useWords(queueWords);
  const set = (changes: Partial<RuleDraft>) => onChange({ ...draft, ...changes });
  return (
    <div className="stack">
      <Field label={words.name} error={faults.name}>
        {(control) => (
          <Input
            {...control}
            data-first
            value={draft.name}
            maxLength={200}
            onChange={({ target }) => set({ name: target.value })}
          />
        )}
      </Field>
      <Weekdays draft={draft} fault={faults.weekdays} set={set} />
      <Times draft={draft} fault={faults.times} set={set} />
      <Zone draft={draft} set={set} />
      <Dates draft={draft} fault={faults.endsOn} set={set} />
    </div>
  );
}

interface PartProps {
  readonly draft: RuleDraft;
  readonly fault?: string | undefined;
  readonly set: (changes: Partial<RuleDraft>) => void;
}

function Weekdays({ draft: { weekdays }, fault, set }: PartProps) {
  const words = useWords(queueWords);
  const { language } = useSettings();
  return (
    <fieldset>
      <legend className={css.legend}>{words.weekdays}</legend>
      <div className={css.days}>
        {WEEKDAYS.map((weekday) => (
          <Checkbox
            key={weekday}
            checked={weekdays.includes(weekday)}
            onChange={({ target }) =>
              set({
                weekdays: WEEKDAYS.filter((one) =>
                  one === weekday ? target.checked : weekdays.includes(one),
                ),
              })
            }
          >
            {weekdayName(weekday, language)}
          </Checkbox>
        ))}
      </div>
      {fault !== undefined && <FieldError>{fault}</FieldError>}
    </fieldset>
  );
}

function Times({ draft: { times }, fault, set }: PartProps) {
  const words = useWords(queueWords);
  const { language } = useSettings();
  const put = (index: number, time: string) => set({ times: times.with(index, time) });
  return (
    <fieldset>
      <legend className={css.legend}>{words.times}</legend>
      <div className={css.times}>
        {times.map((time, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- a time has no other name
          <span key={index}>
            <Input
              type="time"
              className="num"
              aria-label={words.time}
              value={time}
              onChange={({ target }) => put(index, target.value)}
            />
            {hasForeignFields(language) && <span className="xs muted num">{time}</span>}
            <Button
              kind="ghost"
              icon={X}
              aria-label={words.removeTime(time)}
              onClick={() => set({ times: times.toSpliced(index, 1) })}
            />
          </span>
        ))}
        {times.length < MAX_TIMES && (
          <Button icon={Plus} onClick={() => set({ times: [...times, "18:00"] })}>
            {words.addTime}
          </Button>
        )}
      </div>
      {fault === undefined ? (
        <span className="hint">{words.timesHint}</span>
      ) : (
        <FieldError>{fault}</FieldError>
      )}
    </fieldset>
  );
}

function Zone({ draft: { timezone }, set }: PartProps) {
  const words = useWords(queueWords);
  const { language } = useSettings();
  const place = placeOf(timezone, language);
  return (
    <div className="stack-s">
      <span className={css.legend}>{words.zone}</span>
      <ZoneCombobox
        label={words.zone}
        value={timezone}
        onChange={(zone) => set({ timezone: zone })}
        trigger={(props) => (
          <Button
            icon={Globe}
            iconAfter={ChevronDown}
            aria-label={words.changeZone(place)}
            {...props}
          >
            {place}
          </Button>
        )}
      />
      <span className="hint">{words.zoneHint}</span>
    </div>
  );
}

/** The browser writes a date in the form of its own language. */
function inWords(date: string, language: Language): string | undefined {
  const day = parseDate(date)?.toZonedDateTime("UTC");
  return day && fullDayOf(day, language);
}

function Dates({ draft: { startsOn, endsOn }, fault, set }: PartProps) {
  const words = useWords(queueWords);
  const { language } = useSettings();
  return (
    <div className={css.dates}>
      <Field label={words.first} hint={inWords(startsOn, language)}>
        {(control) => (
          <Input
            {...control}
            type="date"
            max={LAST_DATE}
            value={startsOn}
            onChange={({ target }) => set({ startsOn: target.value })}
          />
        )}
      </Field>
      <Field label={words.last} hint={inWords(endsOn, language)} error={fault}>
        {(control) => (
          <Input
            {...control}
            type="date"
            max={LAST_DATE}
            value={endsOn}
            onChange={({ target }) => set({ endsOn: target.value })}
          />
        )}
      </Field>
    </div>
  );
}
