import { eventually } from "@postrider/shared/testing/poll";

const DAY_MS = 86_400_000;
/** Longer than any test that looks at the counters of today. */
const CLEARANCE_MS = 60_000;

/** Counters of days begin anew at midnight in UTC: waits until the day is not about to end, mostly not at all. */
export async function awayFromMidnight(): Promise<void> {
  await eventually(() => DAY_MS - (Date.now() % DAY_MS) > CLEARANCE_MS, {
    timeoutMs: 2 * CLEARANCE_MS,
  });
}

/** Noon in UTC, so many days from today. */
export function noonInDays(days: number): string {
  return new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS + (days + 0.5) * DAY_MS).toISOString();
}
