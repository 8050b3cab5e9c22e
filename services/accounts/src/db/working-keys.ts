import type { ISql, Sql } from "@postrider/shared/postgres";

/** SQL condition on the API key `k`. */
export function doesWork(sql: Sql | ISql) {
  return sql`k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`;
}
