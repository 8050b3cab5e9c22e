import type { ISql, SqlFragment } from "@postrider/shared/postgres";
import type { CommentPosition, HiddenRange } from "#src/engagement/domain/merge-hidden-comments.ts";

/**
 * Action `t` hides or shows a comment and has to wait for an earlier one, of whichever workspace:
 * one that waits for its call, or one whose call may still arrive, whether it has ended or not. The
 * database's time of the requests counts, because ids come from the clocks of several processes.
 */
export function isBehindVisibility(sql: ISql, externalAccountId: ReturnType<ISql>) {
  const isEarlier = sql`
    e.comment_id = t.comment_id
    and e.type in ('hide', 'unhide')
    and (e.created_at, e.id) < (t.created_at, t.id)`;
  // Two searches, because each has an index without the many actions that have ended.
  return sql`
    (t.type in ('hide', 'unhide') and (
      exists (
        select 1
        from comment_actions e
        where e.account_id = t.account_id
        and e.status in ('queued', 'working')
        and ${isEarlier}
      )
      or exists (
        select 1
        from comment_actions e
        where e.platform = t.platform
        and e.call_until > now()
        and (e.account_id = t.account_id or e.external_account_id = ${externalAccountId})
        and ${isEarlier}
      )
    ))`;
}

/** Action `t` hides or shows a comment, and a later one of whichever workspace is in that state. */
function hasLater(sql: ISql, externalAccountId: ReturnType<ISql>, state: SqlFragment) {
  return sql`
    (t.type in ('hide', 'unhide') and exists (
      select 1
      from comment_actions later
      where later.platform = t.platform
      and later.comment_id = t.comment_id
      and later.type in ('hide', 'unhide')
      -- That of a call always is; the index leaves out the many that ended before.
      and later.call_until > t.created_at
      and (later.account_id = t.account_id or later.external_account_id = ${externalAccountId})
      and (later.created_at, later.id) > (t.created_at, t.id)
      and ${state}
    ))`;
}

/**
 * The call of a later one took effect, or may have: that of action `t`, which is repeated after an
 * unknown outcome, would undo it. A refused one changed nothing.
 */
export function isOvertaken(sql: ISql, externalAccountId: ReturnType<ISql>) {
  const isDone = sql`(later.status = 'succeeded' or later.first_unknown_at is not null)`;
  return hasLater(sql, externalAccountId, isDone);
}

/** The call of a later one is not answered yet. */
export function isBesideLater(sql: ISql, externalAccountId: ReturnType<ISql>) {
  return hasLater(sql, externalAccountId, sql`later.status = 'calling'`);
}

interface MediaRef {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly mediaId: string;
}

/** Whether the comment of `a` is older, or newer, than `position`; true without a position. */
function isBeyond(sql: ISql, position: CommentPosition | undefined, side: "older" | "newer") {
  if (position === undefined) return sql`true`;
  const { createdAt, id } = position;
  const place = sql`(a.comment_created_at, a.comment_id collate "C")`;
  return side === "older"
    ? sql`${place} < (${createdAt}, ${id} collate "C")`
    : sql`${place} > (${createdAt}, ${id} collate "C")`;
}

/** Comments that Postrider hid and has not unhidden, newest first. */
export async function listHiddenComments(
  sql: ISql,
  { workspaceId, accountId, mediaId }: MediaRef,
  { range, limit }: { readonly range: HiddenRange; readonly limit: number },
): Promise<readonly CommentPosition[]> {
  return await sql<CommentPosition[]>`
    select id, created_at
    from (
      select distinct on (a.comment_id)
        a.comment_id as id, a.comment_created_at as created_at, a.type
      from comment_actions a
      where a.account_id = ${accountId}
      and a.workspace_id = ${workspaceId}
      and a.media_id = ${mediaId}
      and a.type in ('hide', 'unhide')
      and a.status = 'succeeded'
      and a.comment_created_at is not null
      and ${isBeyond(sql, range.before, "older")}
      and ${isBeyond(sql, range.after, "newer")}
      order by a.comment_id, a.finished_at desc, a.id desc
    ) last
    where type = 'hide'
    order by created_at desc, id collate "C" desc
    limit ${limit}`;
}

/** Returns those of the given comments that Postrider hid and has not unhidden. */
export async function findHiddenComments(
  sql: ISql,
  { workspaceId, accountId, mediaId }: MediaRef,
  commentIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    select id
    from (
      select distinct on (a.comment_id) a.comment_id as id, a.type
      from comment_actions a
      where a.account_id = ${accountId}
      and a.workspace_id = ${workspaceId}
      and a.media_id = ${mediaId}
      and a.comment_id = any(${commentIds as string[]})
      and a.type in ('hide', 'unhide')
      and a.status = 'succeeded'
      order by a.comment_id, a.finished_at desc, a.id desc
    ) last
    where type = 'hide'`;
  return new Set(rows.map(({ id }) => id));
}
