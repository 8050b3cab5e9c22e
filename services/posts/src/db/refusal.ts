import postgres from "postgres";

/** The SQLSTATE of the function `refuse`. */
const REFUSED = "PR001";

/** Why a statement refused itself with `refuse`, after which nothing of it was written; undefined for any other error. */
export function refusalOf(error: unknown): string | undefined {
  return error instanceof postgres.PostgresError && error.code === REFUSED
    ? error.message
    : undefined;
}

/** Whether the database ended a transaction because it and others waited for each other in a ring. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === "40P01";
}
