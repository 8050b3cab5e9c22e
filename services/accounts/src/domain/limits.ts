import type { Violation } from "@postrider/shared/errors";

/** Default limit of a workspace: REST requests per minute, which is also the largest burst. */
export const DEFAULT_REQUESTS_PER_MINUTE = 600;

export interface WorkspaceLimits {
  readonly requestsPerMinute?: number | undefined;
  readonly monthlyQuota?: number | undefined;
  readonly dailyQuota?: number | undefined;
}

const MIN = { requestsPerMinute: 1, monthlyQuota: 0, dailyQuota: 0 } as const;
const NAMES = ["requestsPerMinute", "monthlyQuota", "dailyQuota"] as const;

/** A publishing quota of 0 is allowed: it forbids publishing. */
export function limitViolations(limits: WorkspaceLimits): readonly Violation[] {
  return NAMES.flatMap((name) => {
    const value = limits[name];
    if (value === undefined || value >= MIN[name]) return [];
    return [{ code: "out_of_range", path: `/limits/${name}` }];
  });
}
