import { ServiceError } from "@postrider/shared/errors";
import type { ISql } from "@postrider/shared/postgres";

/**
 * Of one workspace in a day, also revoked ones: their rows stay, and the response to a request with
 * an idempotency key is stored for a day.
 */
const MAX_PER_DAY = 1_000;
const RETRY_MS = 3_600_000;

/** @throws ServiceError `rate_limited` when the workspace created too many in the last day. */
export async function assertFewNewRows(
  sql: ISql,
  table: "automation_rules" | "webhook_subscriptions",
  workspaceId: string,
): Promise<void> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from ${sql(table)}
    where workspace_id = ${workspaceId}
    and created_at > now() - interval '1 day'`;
  if (row !== undefined && row.count >= MAX_PER_DAY)
    throw new ServiceError("conflict", "rate_limited", [], { retryAfterMs: RETRY_MS });
}
