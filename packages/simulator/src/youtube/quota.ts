import type { LimitRule } from "#src/world/limits.ts";
import type { World } from "#src/world/world.ts";
import { refuse } from "#src/youtube/errors.ts";

/** What a call costs: units of the common budget, or one of the uploads. */
export type Cost = { readonly units: number } | "upload";

const UNITS_PER_DAY = 10_000;
const UPLOADS_PER_DAY = 100;
/** YouTube's own cap is not published; users see about 25 to 29. */
const UPLOADS_PER_CHANNEL = 50;
const DAY_MS = 86_400_000;

const pacificDay = new Intl.DateTimeFormat("en-CA", {
  timeZone: "America/Los_Angeles",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
});

/** The day by whose end, at midnight in California, the project's counters begin anew: `2026-11-21`. */
export function pacificDayOf(now: number): string {
  return pacificDay.format(now);
}

/** Counters are named after their day, so none of them has to end while it lasts. */
function dailyRule(name: string, limit: number, now: number, cost = 1): LimitRule {
  return { key: `youtube:${name}:${pacificDayOf(now)}`, limit, windowMs: 2 * DAY_MS, cost };
}

/** Spends the project's budget; refuses when it is used up. */
export function spendQuota({ limits }: World, cost: Cost, now: number): void {
  const rule =
    cost === "upload"
      ? dailyRule("uploads", UPLOADS_PER_DAY, now)
      : dailyRule("units", UNITS_PER_DAY, now, cost.units);
  if (!limits.spend([rule], now).allowed) {
    const message =
      'The request cannot be completed because you have exceeded your <a href="/youtube/v3/getting-started#quota">quota</a>.';
    refuse(403, "quotaExceeded", { message, domain: "youtube.quota" });
  }
}

/** Counts an upload of the channel; refuses when it has had too many. */
export function spendChannelUpload({ limits }: World, channel: string, now: number): void {
  const key = `youtube:channel:${channel}`;
  const rule = { key, limit: UPLOADS_PER_CHANNEL, windowMs: DAY_MS };
  if (!limits.spend([rule], now).allowed) {
    const message = "The user has exceeded the number of videos they may upload.";
    refuse(400, "uploadLimitExceeded", { message, domain: "youtube.video" });
  }
}
