import postgres from "postgres";

/** The SQLSTATE of the error that our SQL function `refuse` raises. */
const REFUSED = "PR001";

const REASONS = ["duplicate_content", "slot_taken", "quota_exceeded", "media_use_expired"] as const;

export function isRefused(error: unknown): error is postgres.PostgresError {
  return error instanceof postgres.PostgresError && error.code === REFUSED;
}

export type RefusalReason = (typeof REASONS)[number];

export function findRefusalReason(error: unknown): RefusalReason | undefined {
  if (!isRefused(error)) return undefined;
  return REASONS.find((reason) => reason === error.message);
}

const EXCEEDED = ["too_many_drafts", "post_storage"] as const;

export type ExceededLimit = (typeof EXCEEDED)[number];

export function findExceededLimit(error: unknown): ExceededLimit | undefined {
  if (!isRefused(error)) return undefined;
  return EXCEEDED.find((limit) => limit === error.message);
}

export function isDeadlock(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === "40P01";
}
