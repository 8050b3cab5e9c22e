import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  conflict,
  unprocessable,
  type ServiceError,
  type Violation,
} from "@postrider/shared/errors";
import type { ISql } from "@postrider/shared/postgres";
import { listClashes, type Guard } from "#src/db/duplicate-guards.ts";
import { listQuotaUsage } from "#src/db/quota-usage.ts";
import { findShortage, type QuotaDemand, type QuotaShortage } from "#src/domain/quota.ts";

/** Says which posts are in the way of these guards; undefined when none is any more. */
export async function explainDuplicates(
  sql: ISql,
  guards: readonly Guard[],
): Promise<ServiceError | undefined> {
  const clashes = guards.length === 0 ? [] : await listClashes(sql, guards);
  if (clashes.length === 0) return undefined;
  const byAccount = new Map(clashes.map((clash) => [clash.accountId, clash]));
  // In the order of the request's accounts.
  const found = guards.flatMap(({ accountId }) => byAccount.get(accountId) ?? []);
  return conflict(
    "duplicate_content",
    found.map((clash) => ({ code: "duplicate_content", ...clash })),
  );
}

/** Says which limits have no room for these demands; undefined when all have, by now. */
export async function explainShortage(
  sql: ISql,
  workspaceId: string,
  demands: readonly QuotaDemand[],
): Promise<ServiceError | undefined> {
  const rows = await listQuotaUsage(sql, workspaceId, demands);
  const usages = new Map(rows.map((row) => [`${row.period}/${row.subject}`, row]));
  const shortages = demands.flatMap(
    (demand) =>
      findShortage(
        demand,
        usages.get(`${demand.period}/${demand.subject}`) ?? { used: 0, reserved: 0 },
      ) ?? [],
  );
  if (shortages.length === 0) return undefined;
  // The month first: it concerns the whole post.
  const ordered = shortages.toSorted(
    (a, b) => Number(a.code === "daily") - Number(b.code === "daily"),
  );
  return unprocessable("quota_exceeded", ordered.map(toViolation));
}

function toViolation({ code, limit, platform, accountId, ...shortage }: QuotaShortage): Violation {
  return {
    code,
    limit,
    used: BigInt(shortage.used),
    reserved: BigInt(shortage.reserved),
    requested: BigInt(shortage.requested),
    resetsAt: timestampFromDate(shortage.resetsAt),
    ...(platform === null ? {} : { platform }),
    ...(accountId === null ? {} : { accountId }),
  };
}
