import type { ISql } from "@postrider/shared/postgres";

/**
 * SQL condition: the deletion of the workspace with this id was requested. Claims skip it, and a
 * mark refuses its calls, so that nothing is sent after the pause is stored; searches for calls
 * whose outcome is unknown go on.
 */
export function isStopped(sql: ISql, workspaceId: ReturnType<ISql>) {
  return sql`${workspaceId}::text in (select key from pauses where kind = 'deletion')`;
}
