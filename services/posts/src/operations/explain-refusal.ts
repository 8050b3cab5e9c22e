import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  conflict,
  type ServiceError,
  unavailable,
  unprocessable,
  type Violation,
} from "@postrider/shared/errors";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { type Guard, listClashes } from "#src/db/duplicate-guards.ts";
import { readPostUsage } from "#src/db/post-limits.ts";
import { listQuotaUsage, type Reservation, reserveQuota } from "#src/db/quota-usage.ts";
import { findExceededLimit } from "#src/db/refusal.ts";
import {
  findShortage,
  type QuotaDemand,
  type QuotaExhaustion,
  type QuotaShortage,
  usageByCounter,
} from "#src/domain/quota.ts";

/** Undefined if the other posts with the same content do not exist any more. */
export async function findDuplicateError(
  sql: ISql,
  guards: readonly Guard[],
): Promise<ServiceError | undefined> {
  const clashes = guards.length === 0 ? [] : await listClashes(sql, guards);
  if (clashes.length === 0) return undefined;
  const byAccount = new Map(clashes.map((clash) => [clash.accountId, clash]));
  // The error `duplicate_content` lists the other posts in the order of the accounts in the
  // request.
  const found = guards.flatMap(({ accountId }) => byAccount.get(accountId) ?? []);
  return conflict(
    "duplicate_content",
    found.map(({ plannedAt, ...clash }) => ({
      code: "duplicate_content",
      ...clash,
      plannedAt: timestampFromDate(plannedAt),
    })),
  );
}

/** Undefined if the limits have room again. */
export async function findShortageError(
  sql: ISql,
  demands: readonly QuotaDemand[],
): Promise<ServiceError | undefined> {
  if (demands.length === 0) return undefined;
  const usageOf = usageByCounter(await listQuotaUsage(sql, demands));
  const found = demands.flatMap((demand) => findShortage(demand, usageOf(demand)) ?? []);
  // A workspace that is above its own limit is told of that one only.
  const own = new Set(found.map(({ code, platform }) => (code === "daily" ? platform : null)));
  const shortages = found.filter(
    ({ code, platform }) => code !== "daily_shared" || !own.has(platform),
  );
  if (shortages.length === 0) return undefined;
  // An exceeded monthly limit is listed first, because it concerns all accounts of the post.
  const ordered = shortages.toSorted(
    (a, b) => Number(b.code === "monthly") - Number(a.code === "monthly"),
  );
  return unprocessable("quota_exceeded", ordered.map(toViolation));
}

/**
 * Returns the counters that are used up. On `quota_exceeded`, the caller must roll back, because
 * the other demands were reserved.
 */
export async function reserveQuotaOrThrow(
  tx: TransactionSql,
  reservation: Reservation,
): Promise<readonly QuotaExhaustion[]> {
  const { exhausted, short } = await reserveQuota(tx, reservation);
  if (short.length > 0) throw (await findShortageError(tx, short)) ?? unavailable();
  return exhausted;
}

/** Any error but that of a limit of the workspace is returned as it is. */
export async function explainLimit(
  sql: ISql,
  workspaceId: string,
  error: unknown,
): Promise<unknown> {
  const code = findExceededLimit(error);
  if (code === undefined) return error;
  const { drafts, maxDrafts, bytes, maxBytes } = await readPostUsage(sql, workspaceId);
  const numbers =
    code === "too_many_drafts"
      ? { limit: maxDrafts, actual: drafts }
      : { limit: maxBytes, actual: bytes };
  return unprocessable("validation_failed", [{ code, ...numbers }]);
}

/** What all workspaces together have used and reserved is not said. */
function toViolation({ code, limit, platform, accountId, ...shortage }: QuotaShortage): Violation {
  const used = { used: BigInt(shortage.used), reserved: BigInt(shortage.reserved) };
  return {
    code,
    limit,
    ...(code === "daily_shared" ? {} : used),
    requested: BigInt(shortage.requested),
    resetsAt: timestampFromDate(shortage.resetsAt),
    ...(platform === null ? {} : { platform }),
    ...(accountId === null ? {} : { accountId }),
  };
}
