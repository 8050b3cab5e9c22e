import { ChevronDown, ChevronLeft, ChevronRight, Globe } from "lucide-react";
import { Button } from "../../kit/button.tsx";
import { classNames } from "../../kit/class-names.ts";
import { Segments } from "../../kit/segments.tsx";
import { Select } from "../../kit/select.tsx";
import { ZoneCombobox } from "../../kit/zone-combobox.tsx";
import { accountLabelOf } from "../../posts/account-name.ts";
import { useAccounts } from "../../posts/use-accounts.ts";
import { changeSettings, useSettings } from "../../settings/settings.ts";
import { placeOf } from "../../time/place-names.ts";
import { useWords } from "../../words/use-words.ts";
import css from "./calendar-bar.module.css";
import { VIEWS } from "./calendar-range.ts";
import { calendarWords } from "./calendar-words.ts";
import type { Place } from "./use-place.ts";

interface CalendarBarProps {
  readonly place: Place;
  readonly period: string;
}

/** Which days, how they are drawn, of which account, and in which zone. */
export function CalendarBar({ place, period }: CalendarBarProps) {
  const words = useWords(calendarWords);
  const { view } = place;
  return (
    <div className={classNames("filters", css.bar)}>
      <div className="row">
        <div className={css.steps}>
          <Button
            icon={ChevronLeft}
            aria-label={words.previous[view]}
            onClick={() => place.step(-1)}
          />
          <Button onClick={place.goToday}>{words.today}</Button>
          <Button icon={ChevronRight} aria-label={words.next[view]} onClick={() => place.step(1)} />
        </div>
        <h2 className={css.period}>{period}</h2>
      </div>
      <div className="row push wrap">
        <Segments
          label={words.view}
          value={view}
          segments={VIEWS.map((value) => ({ value, label: words.views[value] }))}
          onChange={place.show}
        />
        <AccountSelect place={place} />
        <ZoneButton />
      </div>
    </div>
  );
}

function AccountSelect({ place }: Pick<CalendarBarProps, "place">) {
  const words = useWords(calendarWords);
  const accounts = useAccounts();
  return (
    <Select
      label={words.accounts}
      value={place.account}
      isSet={place.account !== ""}
      onChange={place.filter}
      options={[
        { value: "", label: words.allAccounts },
        ...[...accounts.values()].map((account) => ({
          value: account.id,
          label: accountLabelOf(account),
        })),
      ]}
    />
  );
}

/** The zone of all times of the page, beside what it changes most. */
export function ZoneButton() {
  const words = useWords(calendarWords);
  const { zone, language } = useSettings();
  const place = placeOf(zone, language);
  return (
    <ZoneCombobox
      label={words.timesIn(place)}
      value={zone}
      onChange={(chosen) => changeSettings({ zone: chosen })}
      trigger={(props) => (
        <Button
          icon={Globe}
          iconAfter={ChevronDown}
          className={css.zone}
          aria-label={words.timesIn(place)}
          {...props}
        >
          {place}
        </Button>
      )}
    />
  );
}
