import type { DailyQuota, MonthlyQuota } from "@postrider/contracts/posts/v1/quota_service_pb";
import { toOptionalInstant } from "#src/timestamps.ts";

function toCounts({ limit, used, reserved, remaining, resetsAt }: MonthlyQuota | DailyQuota) {
  return {
    limit: Number(limit),
    used: Number(used),
    reserved: Number(reserved),
    remaining: Number(remaining),
    resetsAt: toOptionalInstant(resetsAt),
  };
}

export function toMonthlyQuota(quota: MonthlyQuota) {
  const { period, released, maxReleased } = quota;
  return {
    period,
    ...toCounts(quota),
    ...(released === undefined ? {} : { released: Number(released) }),
    ...(maxReleased === undefined ? {} : { maxReleased: Number(maxReleased) }),
  };
}

export function toDailyQuota(quota: DailyQuota) {
  const { platform, accountId, scope } = quota;
  return { platform, accountId, scope, ...toCounts(quota) };
}
