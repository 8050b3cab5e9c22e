import type { ISql } from "@postrider/shared/postgres";

/** Blocking and allowing again sets a new time: comments from in between are never answered. */
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

/** Returns since when private replies may be sent; null if they must not be sent. */
export async function findSendingSince(sql: ISql): Promise<Date | null> {
  const [row] = await sql<{ enabledAt: Date }[]>`
    select enabled_at
    from automation_sending`;
  return row?.enabledAt ?? null;
}

export function isBlocked(sql: ISql) {
  return sql`
    type = 'private_reply'
    and status = 'queued'
    and open_unknowns = 0
    and created_at < coalesce((select enabled_at from automation_sending), 'infinity')`;
}

export function hasBlockedReplies(sql: ISql) {
  return sql`exists (select from comment_actions where ${isBlocked(sql)})`;
}
