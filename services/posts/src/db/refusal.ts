import postgres from "postgres";

/** The SQLSTATE of the error that our SQL function `refuse` raises. */
const REFUSED = "PR001";

const REASONS = ["duplicate_content", "slot_taken", "quota_exceeded", "media_use_expired"] as const;

/** Whether an error says that the SQL function `refuse` stopped a statement or a commit. */
export function isRefused(error: unknown): error is postgres.PostgresError {
  return error instanceof postgres.PostgresError && error.code === REFUSED;
}

/** The reasons with which the SQL function `refuse` can stop a statement that writes a post. */
export type RefusalReason = (typeof REASONS)[number];

/**
 * Returns the reason when an error says that the SQL function `refuse` stopped a statement; undefined for any other
 * error.
 */
export function findRefusalReason(error: unknown): RefusalReason | undefined {
  if (!isRefused(error)) return undefined;
  return REASONS.find((reason) => reason === error.message);
}

const EXCEEDED = ["too_many_drafts", "post_storage"] as const;

/** The limits of what a workspace stores. */
export type ExceededLimit = (typeof EXCEEDED)[number];

/**
 * Returns the limit of the workspace that a statement or a commit would have exceeded; undefined for any other error.
 */
export function findExceededLimit(error: unknown): ExceededLimit | undefined {
  if (!isRefused(error)) return undefined;
  return EXCEEDED.find((limit) => limit === error.message);
}

/** Whether Postgres aborted a transaction because of a deadlock. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === "40P01";
}
