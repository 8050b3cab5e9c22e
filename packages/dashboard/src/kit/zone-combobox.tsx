import { useCallback } from "react";
import { ownZone, useSettings } from "../settings/settings.ts";
import { clockOf } from "../time/format-time.ts";
import { offsetOf, placeOf } from "../time/place-names.ts";
import { useNow } from "../time/use-now.ts";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { Combobox } from "./combobox.tsx";
import type { ComboOption } from "./find-options.ts";
import type { TriggerProps } from "./popover.tsx";

interface ZoneComboboxProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (zone: string) => void;
  readonly trigger: (props: TriggerProps) => React.ReactNode;
}

/**
 * The time zones, with the offset and the clock there now; the chosen one and this computer's
 * first.
 */
export function ZoneCombobox({ label, value, onChange, trigger }: ZoneComboboxProps) {
  const words = useWords(kitWords);
  const { language } = useSettings();
  const now = useNow();
  const own = ownZone();
  const listOptions = useCallback((): readonly ComboOption[] => {
    const first = new Set([value, own, "UTC"]);
    const others = Intl.supportedValuesOf("timeZone").filter((zone) => !first.has(zone));
    return [...first, ...others].map((zone) => {
      const at = now.toZonedDateTimeISO(zone);
      return {
        value: zone,
        label: placeOf(zone, language),
        note: zone === own ? words.thisComputer : undefined,
        end: `${offsetOf(at)} · ${clockOf(at, language)}`,
      };
    });
  }, [value, own, now, language, words]);
  return (
    <Combobox
      label={label}
      value={value}
      listOptions={listOptions}
      onChange={onChange}
      trigger={trigger}
    />
  );
}
