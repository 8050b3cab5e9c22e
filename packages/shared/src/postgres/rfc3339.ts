import type { ISql, SqlFragment } from "#src/postgres.ts";

/** The text of a timestamp as RFC 3339 in UTC with milliseconds, as proto JSON has it. */
export function rfc3339(sql: ISql, timestamp: SqlFragment): SqlFragment {
  return sql`to_char(${timestamp} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
