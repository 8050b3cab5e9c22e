import { useMemo } from "react";
import { useSearchParams } from "wouter";
import { useSettings } from "../../settings/settings.ts";
import { useNow } from "../../time/use-now.ts";
import { rangeOf, stepDay, type View, VIEWS } from "./calendar-range.ts";

const DATE = /^\d{4}-\d{2}-\d{2}$/;

function dayFrom(text: string | null): Temporal.PlainDate | undefined {
  if (text === null || !DATE.test(text)) return undefined;
  try {
    return Temporal.PlainDate.from(text);
  } catch {
    return undefined;
  }
}

/** View and day that the address names, so that reload and the back button keep the place. */
export function usePlace() {
  const { zone } = useSettings();
  const [parameters, setParameters] = useSearchParams();
  const todayText = useNow().toZonedDateTimeISO(zone).toPlainDate().toString();
  const named = parameters.get("day");
  const view = VIEWS.find((one) => one === parameters.get("view")) ?? "month";
  const account = parameters.get("account") ?? "";
  const set = (name: string, value: string) =>
    setParameters((before) => {
      const after = new URLSearchParams(before);
      if (value === "") after.delete(name);
      else after.set(name, value);
      return after;
    });
  return useMemo(() => {
    const today = Temporal.PlainDate.from(todayText);
    const day = dayFrom(named) ?? today;
    return {
      view,
      day,
      today,
      account,
      range: rangeOf(view, day),
      show: (chosen: View) => set("view", chosen),
      go: (chosen: Temporal.PlainDate) => set("day", chosen.toString()),
      step: (by: number) => set("day", stepDay(view, day, by).toString()),
      goToday: () => set("day", ""),
      filter: (accountId: string) => set("account", accountId),
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- `set` writes to the address only
  }, [view, named, todayText, account]);
}

export type Place = ReturnType<typeof usePlace>;
