import type { ISql } from "@postrider/shared/postgres";

/**
 * SQL condition: the deletion of the workspace with this id was requested, or it is frozen for a
 * move or moved. Claims skip it, and a mark refuses its calls, so that nothing is sent after the
 * pause is stored; searches for calls whose outcome is unknown go on.
 */
export function isStopped(sql: ISql, workspaceId: ReturnType<ISql>) {
  return sql`${workspaceId}::text in (select key from pauses where kind in ('deletion', 'move'))`;
}

/**
 * SQL condition: no webhooks of the workspace are sent. Those of a moved workspace are: the other
 * cell does not know the deliveries that began here.
 */
export function isSilent(sql: ISql, workspaceId: ReturnType<ISql>) {
  return sql`${workspaceId}::text in (select key from pauses where kind = 'deletion')`;
}

/** SQL condition: the workspace had been given to another cell at this time. */
export function isMovedBefore(sql: ISql, workspaceId: ReturnType<ISql>, at: ReturnType<ISql>) {
  return sql`
    exists (
      select from pauses
      where kind = 'moved'
      and key = ${workspaceId}::text
      and created_at < ${at}
    )`;
}

/** Whether publishing is stopped for a move that can still be cancelled. */
export async function isFrozen(sql: ISql, workspaceId: string): Promise<boolean> {
  const rows = await sql<{ kind: string }[]>`
    select kind
    from pauses
    where key = ${workspaceId}
    and kind in ('move', 'moved')`;
  return rows.length === 1 && rows[0]?.kind === "move";
}
