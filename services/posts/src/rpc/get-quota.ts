import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  GetQuotaRequest,
  GetQuotaResponseSchema,
} from "@postrider/contracts/posts/v1/quota_service_pb";
import { assertWorkspaceId } from "@postrider/shared/ids";
import { listQuotaUsage } from "#src/db/quota-usage.ts";
import {
  dailyCounters,
  maxReleased,
  monthlyCounter,
  remainingOf,
  resetsAt,
  type QuotaCounter,
  type QuotaUsage,
  usageByCounter,
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
  assertWorkspaceId(workspaceId);
  const [now, limits, { accounts }] = await Promise.all([
    clock(),
    workspaces.findLimits(workspaceId),
    accountService.listAccounts({ workspaceId }),
  ]);
  const month = monthlyCounter(workspaceId, now, limits);
  // Accounts that share a counter each show it.
  const days = accounts.flatMap(({ id: accountId, platform }) => {
    const [own, shared] = dailyCounters(workspaceId, { accountId, platform }, now, limits);
    return own === undefined ? [] : { accountId, platform, own, shared: shared ?? own };
  });
  const counters = days.flatMap(({ own, shared }) => [own, shared]);
  const usageOf = usageByCounter(await listQuotaUsage(sql, [month, ...counters]));
  const leftOf = (counter: QuotaCounter) => remainingOf(counter.limit, usageOf(counter));
  return {
    monthly: {
      period: month.period,
      ...toAmounts(month, usageOf(month)),
      remaining: BigInt(leftOf(month)),
      released: BigInt(usageOf(month).released),
      maxReleased: BigInt(maxReleased(month.limit)),
    },
    dailyLimits: days.map(({ own, shared, ...day }) => ({
      ...day,
      scope: own.scope,
      ...toAmounts(own, usageOf(own)),
      remaining: BigInt(Math.min(leftOf(own), leftOf(shared))),
    })),
  };
}

function toAmounts({ limit, period }: QuotaCounter, { used, reserved }: QuotaUsage) {
  return {
    limit: BigInt(limit),
    used: BigInt(used),
    reserved: BigInt(reserved),
    resetsAt: timestampFromDate(resetsAt(period)),
  };
}
