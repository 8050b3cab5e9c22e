import type { TransactionSql } from "@postrider/shared/postgres";
import type { Login } from "#src/db/dashboard-sessions.ts";

/** A session that was opened with a link counts alone, as one of a key of its own. */
export interface SessionMaxima {
  readonly perKey: number;
  readonly perWorkspace: number;
}

/**
 * Deletes the session that a new one replaces, and those for which the new one leaves no room: the
 * oldest of its own key, and then the oldest of the key with the most. Those that a concurrent
 * login deletes are skipped, so that two logins never deadlock.
 *
 * @returns The ids of those that had to make room.
 */
export async function deleteReplacedSessions(
  tx: TransactionSql,
  replaced: Pick<Login, "keyId"> & { readonly workspaceId: string; readonly hash: Uint8Array },
  { perKey, perWorkspace }: SessionMaxima,
): Promise<readonly string[]> {
  const { workspaceId, hash, keyId = null } = replaced;
  await tx`delete from dashboard_sessions where hash = ${hash}`;
  // The last one in this order is the oldest session of the key with the most.
  const rows = await tx<{ id: string }[]>`
    with counted as (
      select id, coalesce(api_key_id = ${keyId}, false) as is_own,
        row_number() over (partition by coalesce(api_key_id, id) order by id desc) as place
      from dashboard_sessions
      where workspace_id = ${workspaceId}
    ),
    beyond as (
      (select id from counted where is_own and place >= ${perKey})
      union
      (select id from counted order by place, is_own, id desc offset ${perWorkspace - 1})
    )
    delete from dashboard_sessions
    where id in (
      select id
      from dashboard_sessions
      where id in (select id from beyond)
      for update skip locked
    )
    returning id`;
  return rows.map(({ id }) => id);
}
