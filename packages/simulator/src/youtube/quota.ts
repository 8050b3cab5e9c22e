import type { LimitRule } from "#src/world/limits.ts";
import type { World } from "#src/world/world.ts";
import { refuse } from "#src/youtube/errors.ts";

/** Units of the daily quota of the project, or one of its daily uploads. */
export type Cost = { readonly units: number } | "upload";

const UNITS_PER_DAY = 10_000;
const UPLOADS_PER_DAY = 100;
/**
 * Maximum number of uploads per YouTube channel and day. YouTube does not publish its limit; users
 * report about 25 to 29.
 */
const UPLOADS_PER_CHANNEL_AND_DAY = 50;
const DAY_MS = 86_400_000;

const pacificDay = new Intl.DateTimeFormat("en-CA", {
  timeZone: "America/Los_Angeles",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
});

/** The daily quota starts again at midnight in California. */
export function pacificDayOf(now: number): string {
  return pacificDay.format(now);
}

/** Each day in California has a new counter, so the window only has to be longer than a day. */
function dailyRule(name: string, limit: number, now: number, cost = 1): LimitRule {
  return { key: `youtube:${name}:${pacificDayOf(now)}`, limit, windowMs: 2 * DAY_MS, cost };
}

export function spendQuota({ limits }: World, cost: Cost, now: number): void {
  const rule =
    cost === "upload"
      ? dailyRule("uploads", UPLOADS_PER_DAY, now)
      : dailyRule("units", UNITS_PER_DAY, now, cost.units);
  if (limits.take(rule, now)) return;
  // The limit of uploads is one of Google's API management, which answers otherwise than YouTube's
  // own quota.
  if (cost === "upload") {
    const message =
      "Quota exceeded for quota metric 'Video Uploads' and limit 'Video Uploads per day' of service 'youtube.googleapis.com' for consumer 'project_number:1'";
    refuse(429, "rateLimitExceeded", { message });
  }
  const message =
    'The request cannot be completed because you have exceeded your <a href="/youtube/v3/getting-started#quota">quota</a>.';
  refuse(403, "quotaExceeded", { message, domain: "youtube.quota" });
}

export function spendChannelUpload({ limits }: World, channel: string, now: number): void {
  const key = `youtube:channel:${channel}`;
  const rule = { key, limit: UPLOADS_PER_CHANNEL_AND_DAY, windowMs: DAY_MS };
  if (!limits.take(rule, now)) {
    const message = "The user has exceeded the number of videos they may upload.";
    refuse(400, "uploadLimitExceeded", { message, domain: "youtube.video" });
  }
}
