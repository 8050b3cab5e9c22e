import type { ISql } from "@postrider/shared/postgres";
import type { AccountKey } from "#src/db/accounts.ts";

/** Stores what the platform offers an account now. Of two answers at the same time either may stay. */
export async function setAvailable(
  sql: ISql,
  { workspaceId, accountId }: AccountKey,
  values: Readonly<Record<string, unknown>>,
): Promise<void> {
  await sql`
    update accounts
    set available = ${sql.json(values as Record<string, never>)},
      available_at = now()
    where workspace_id = ${workspaceId}
    and id = ${accountId}
    and status <> 'disconnected'`;
}
