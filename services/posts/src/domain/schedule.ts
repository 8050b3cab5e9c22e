import type { Violation } from "@postrider/shared/errors";

/** A time that has just passed was meant as now: clocks differ, and requests take a while. */
const GRACE_MS = 60_000;
const MAX_AHEAD_MS = 366 * 24 * 3_600_000;

/** Why a post cannot be due at an instant, if there is a reason. */
export function checkSchedule(scheduledAt: Date, now: Date): Violation[] {
  const aheadMs = scheduledAt.getTime() - now.getTime();
  const path = "/scheduledAt";
  if (aheadMs < -GRACE_MS) return [{ code: "schedule_in_past", path }];
  return aheadMs > MAX_AHEAD_MS ? [{ code: "schedule_too_far", path }] : [];
}

/** Whether a post that may be due at an instant is to be published at once. */
export function isDueNow(scheduledAt: Date, now: Date): boolean {
  return scheduledAt.getTime() <= now.getTime();
}
