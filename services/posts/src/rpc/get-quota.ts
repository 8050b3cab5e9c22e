import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import type {
  GetQuotaRequest,
  GetQuotaResponseSchema,
} from "@postrider/contracts/posts/v1/quota_service_pb";
import { isPlatformId } from "@postrider/platforms/registry";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { listQuotaUsage } from "#src/db/quota-usage.ts";
import {
  dailyCounter,
  monthlyCounter,
  remainingOf,
  resetsAt,
  type QuotaCounter,
  type QuotaLimits,
  type QuotaUsage,
} from "#src/domain/quota.ts";
import type { QuotaServiceDeps } from "#src/rpc/quota-service.ts";

/** What is left of the current month, and of the current day for each account that has a limit. */
export async function getQuota(
  { sql, clock, workspaces, accountService }: QuotaServiceDeps,
  { workspaceId }: GetQuotaRequest,
): Promise<MessageInitShape<typeof GetQuotaResponseSchema>> {
  if (!isId(workspaceId)) throw invalidRequest([{ code: "invalid", path: "/workspaceId" }]);
  const [now, limits, { accounts }] = await Promise.all([
    clock(),
    workspaces.findLimits(workspaceId),
    accountService.listAccounts({ workspaceId }),
  ]);
  const month = monthlyCounter(workspaceId, now, limits);
  const days = accounts.flatMap((account) => toDay(account, now, limits) ?? []);
  const rows = await listQuotaUsage(sql, workspaceId, [
    month,
    ...days.map(({ counter }) => counter),
  ]);
  const usages = new Map(rows.map((row) => [`${row.period}/${row.subject}`, row]));
  const usageOf = ({ period, subject }: QuotaCounter) =>
    usages.get(`${period}/${subject}`) ?? { used: 0, reserved: 0 };
  return {
    monthly: { period: month.period, ...toAmounts(month, usageOf(month)) },
    dailyLimits: days.map(({ counter, accountId, platform }) => ({
      platform,
      accountId,
      scope: counter.scope,
      ...toAmounts(counter, usageOf(counter)),
    })),
  };
}

/** A counter that accounts share is shown on each of them. */
function toDay({ id: accountId, platform }: Account, now: Date, limits: QuotaLimits) {
  const counter = isPlatformId(platform)
    ? dailyCounter({ accountId, platform }, now, limits)
    : undefined;
  return counter === undefined ? undefined : { counter, accountId, platform };
}

function toAmounts({ limit, period }: QuotaCounter, usage: QuotaUsage) {
  return {
    limit: BigInt(limit),
    used: BigInt(usage.used),
    reserved: BigInt(usage.reserved),
    remaining: BigInt(remainingOf(limit, usage)),
    resetsAt: timestampFromDate(resetsAt(period)),
  };
}
