const DAY_MS = 86_400_000;

const pacificTime = new Intl.DateTimeFormat("en-US", {
  timeZone: "America/Los_Angeles",
  hourCycle: "h23",
  hour: "numeric",
  minute: "numeric",
  second: "numeric",
});

function timeOfDayMs(now: Date): number {
  const parts = new Map(pacificTime.formatToParts(now).map(({ type, value }) => [type, value]));
  const [hour, minute, second] = ["hour", "minute", "second"].map((type) =>
    Number(parts.get(type as Intl.DateTimeFormatPartTypes)),
  );
  return (((hour ?? 0) * 60 + (minute ?? 0)) * 60 + (second ?? 0)) * 1000 + (now.getTime() % 1000);
}

/**
 * Returns the milliseconds until the next midnight in California, when Google resets its daily
 * quotas.
 */
export function msUntilPacificMidnight(now: Date): number {
  const guessMs = DAY_MS - timeOfDayMs(now);
  // On a day on which the clocks change, the first estimate of midnight is wrong by one hour and is
  // corrected.
  const offMs = timeOfDayMs(new Date(now.getTime() + guessMs));
  return offMs > DAY_MS / 2 ? guessMs + (DAY_MS - offMs) : guessMs - offMs;
}
