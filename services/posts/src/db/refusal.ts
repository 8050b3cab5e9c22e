import postgres from "postgres";

/** The SQLSTATE of the error that the SQL function `refuse` raises. */
const REFUSED = "PR001";

const REASONS = ["duplicate_content", "slot_taken", "quota_exceeded", "media_use_expired"] as const;

/** The reason why a statement that writes a post was refused with the SQL function `refuse`. */
export type RefusalReason = (typeof REASONS)[number];

/**
 * Returns the reason with which the SQL function `refuse` refused a statement, which then wrote nothing; undefined for any
 * other error.
 */
export function findRefusalReason(error: unknown): RefusalReason | undefined {
  if (!(error instanceof postgres.PostgresError) || error.code !== REFUSED) return undefined;
  return REASONS.find((reason) => reason === error.message);
}

/** Whether the database ended a transaction because of a deadlock. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === "40P01";
}
