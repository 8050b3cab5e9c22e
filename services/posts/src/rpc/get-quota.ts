import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import type {
  GetQuotaRequest,
  GetQuotaResponseSchema,
} from "@postrider/contracts/posts/v1/quota_service_pb";
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
import type { PostsDeps } from "#src/operations/dependencies.ts";

export async function getQuota(
  {
    sql,
    clock,
    workspaces,
    accountService,
  }: Pick<PostsDeps, "sql" | "clock" | "workspaces" | "accountService">,
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

/** Accounts that share a counter each show it. */
function toDay({ id: accountId, platform }: Account, now: Date, limits: QuotaLimits) {
  const counter = dailyCounter({ accountId, platform }, now, limits);
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
