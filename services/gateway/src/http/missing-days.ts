const DAY = /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})(?:[Tt]|$)/;
const MONTHS =
  "January February March April May June July August September October November December".split(
    " ",
  );

/** Says how many days the month of a date has, if the date lies after its last day, such as the 30th of February. */
export function describeMissingDay(text: string): string | undefined {
  const { year, month, day } = DAY.exec(text)?.groups ?? {};
  const name = MONTHS[Number(month) - 1];
  if (name === undefined || year === "0000") return undefined;
  const last = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) > last ? `${name} ${year} has ${last} days` : undefined;
}
