import type { ISql } from "@postrider/shared/postgres";

/**
 * Stores whether private replies may be sent, as the settings of this process say, and returns since when; null if they may not.
 * Blocking and enabling again makes a new time, so that comments from in between are never answered.
 */
export async function storeSending(sql: ISql, isEnabled: boolean): Promise<Date | null> {
  if (!isEnabled) {
    await sql`delete from automation_sending`;
    return null;
  }
  await sql`
    insert into automation_sending (enabled_at)
    values (clock_timestamp())
    on conflict (only_row) do nothing`;
  return await findSendingSince(sql);
}

/** Returns since when private replies may be sent; null if they may not. */
export async function findSendingSince(sql: ISql): Promise<Date | null> {
  const [row] = await sql<{ enabledAt: Date }[]>`
    select enabled_at
    from automation_sending`;
  return row?.enabledAt ?? null;
}
