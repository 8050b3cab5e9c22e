import postgres from "postgres";

/** The SQLSTATE of the function `refuse`. */
const REFUSED = "PR001";

const REASONS = ["duplicate_content", "slot_taken", "quota_exceeded", "media_use_expired"] as const;

/** Why a statement that writes a post refused itself. */
export type RefusalReason = (typeof REASONS)[number];

/** Why a statement refused itself with `refuse`, after which nothing of it was written; undefined for any other error. */
export function findRefusalReason(error: unknown): RefusalReason | undefined {
  if (!(error instanceof postgres.PostgresError) || error.code !== REFUSED) return undefined;
  return REASONS.find((reason) => reason === error.message);
}

/** Whether the database ended a transaction because it and others waited for each other. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === "40P01";
}
