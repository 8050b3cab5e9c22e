import type { Violation } from "@postrider/shared/errors";

/** REST requests a minute, and at once, of a workspace that has no limit of its own. */
export const DEFAULT_REQUESTS_PER_MINUTE = 600;

/** Limits of a workspace as somebody wants to set them; absent ones stay. */
export interface WorkspaceLimits {
  readonly requestsPerMinute?: number | undefined;
  readonly monthlyQuota?: number | undefined;
  readonly dailyQuota?: number | undefined;
}

const LEAST = { requestsPerMinute: 1, monthlyQuota: 0, dailyQuota: 0 } as const;
const NAMES = ["requestsPerMinute", "monthlyQuota", "dailyQuota"] as const;

/** Everything that is wrong with limits; a quota of 0 is a way to forbid publishing. */
export function limitViolations(limits: WorkspaceLimits): readonly Violation[] {
  return NAMES.flatMap((name) => {
    const value = limits[name];
    if (value === undefined || value >= LEAST[name]) return [];
    return [{ code: "out_of_range", path: `/limits/${name}` }];
  });
}
