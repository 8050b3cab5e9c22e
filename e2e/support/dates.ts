// Dates that tests plan on. They are ahead of today, whenever the tests run.

const DAY_MS = 86_400_000;

/** A date of the calendar, some days from another one or from today. */
export function dateIn(days: number, from: string | number = Date.now()): string {
  return new Date(new Date(from).getTime() + days * DAY_MS).toISOString().slice(0, 10);
}

/** The next Sunday of a kind that is at least a week ahead, so that posts can be due before it. */
function nextSunday(month: number, sundayOf: (year: number) => number): string {
  const year = new Date().getUTCFullYear();
  const dates = [year, year + 1].map((one) =>
    new Date(Date.UTC(one, month - 1, sundayOf(one))).toISOString().slice(0, 10),
  );
  return dates.find((date) => date > dateIn(7)) ?? "";
}

export const lastSunday = (month: number) =>
  nextSunday(month, (year) => 31 - new Date(Date.UTC(year, month - 1, 31)).getUTCDay());
export const secondSundayOfMarch = () =>
  nextSunday(3, (year) => 14 - ((new Date(Date.UTC(year, 2, 14)).getUTCDay() + 7) % 7));
