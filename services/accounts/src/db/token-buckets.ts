import type { Sql, SqlFragment } from "@postrider/shared/postgres";

/** SQL for the tokens that the bucket `b` has now, if it refills to `capacity` in `seconds`. */
export function refilledTokens(sql: Sql, capacity: SqlFragment, seconds: number) {
  return sql`
    least(
      ${capacity},
      b.tokens
        + greatest(0, extract(epoch from now() - b.refilled_at)::float8) * ${capacity} / ${seconds}::float8
    )`;
}

/**
 * SQL for the refill time to store in the bucket `b`. Another transaction may have written a later
 * one, which is kept; at most 10 s ahead of now(), so that the refill continues after the
 * database's clock was set back.
 */
export function refillTime(sql: Sql) {
  return sql`greatest(now(), least(b.refilled_at, now() + interval '10 seconds'))`;
}
