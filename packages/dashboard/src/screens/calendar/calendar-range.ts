export const VIEWS = ["month", "week", "list"] as const;

export type View = (typeof VIEWS)[number];

/** Days of a calendar in a row. */
export interface DayRange {
  readonly first: Temporal.PlainDate;
  readonly days: number;
}

/** A month always has six weeks, so that nothing jumps when one goes to the next. */
const DAYS: Readonly<Record<View, number>> = { month: 42, week: 7, list: 14 };

function mondayOf(day: Temporal.PlainDate): Temporal.PlainDate {
  return day.subtract({ days: day.dayOfWeek - 1 });
}

/** The days that a view shows around a day. */
export function rangeOf(view: View, day: Temporal.PlainDate): DayRange {
  return { first: mondayOf(view === "month" ? day.with({ day: 1 }) : day), days: DAYS[view] };
}

/** The day in the period before (-1) or after (1) the one that is shown. */
export function stepDay(view: View, day: Temporal.PlainDate, by: number): Temporal.PlainDate {
  return view === "month" ? day.add({ months: by }) : day.add({ days: by * DAYS[view] });
}

export function lastOf({ first, days }: DayRange): Temporal.PlainDate {
  return first.add({ days: days - 1 });
}

/**
 * The dates to ask for. The API takes UTC dates, and a local day lies in two or three of them: a
 * day more on both sides, or posts near midnight would be missing.
 */
export function datesToRead(range: DayRange): { readonly from: string; readonly to: string } {
  const from = range.first.subtract({ days: 1 }).toString();
  return { from, to: lastOf(range).add({ days: 1 }).toString() };
}
