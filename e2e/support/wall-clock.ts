const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Each zone that changes its clocks does so within so many days, once at least. */
const LOOK_DAYS = 300;

/** What the wall clock of a zone shows, as `2026-11-21 09:30`. */
function clockOf(zone: string): (instantMs: number) => string {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    dateStyle: "short",
    timeStyle: "short",
  });
  return (instantMs) => format.format(instantMs);
}

/** A date so many days later. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, "YYYY-MM-DD".length);
}

/** The local dates, from the day after tomorrow on, at whose noon the clock is elsewhere than the noon before. */
export function daysOfChange(zone: string): readonly string[] {
  const clock = clockOf(zone);
  const noon = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2;
  const days = Array.from({ length: LOOK_DAYS }, (_, index) => noon + (index + 2) * DAY_MS);
  const changed = days.filter((at) => clock(at).slice(11) !== clock(at - DAY_MS).slice(11));
  if (changed.length === 0) throw new Error(`the clocks of ${zone} do not change`);
  return changed.map((at) => clock(at).slice(0, "YYYY-MM-DD".length));
}

/** The first instant at which the clock shows the time of that date, or a later one where it jumps over it. */
export function firstShowing(zone: string, date: string, time: string): string {
  const clock = clockOf(zone);
  const wanted = `${date} ${time}`;
  let at = Date.parse(date) - DAY_MS;
  while (clock(at) < wanted) at += MINUTE_MS;
  return new Date(at).toISOString();
}
