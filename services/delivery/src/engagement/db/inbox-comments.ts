import type { PlatformComment } from "@postrider/platforms/comments/connector";
import { newId } from "@postrider/shared/ids";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { CommentAction } from "#src/engagement/domain/comment-action.ts";

/** Comments kept per workspace; older ones are removed when new ones are stored. */
export const MAX_KEPT = 10_000;
/** The whole text is read from the platform when a conversation is shown. */
const MAX_TEXT_LENGTH = 2_000;

export interface CommentedMedia {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly mediaId: string;
}

function toRow(comment: PlatformComment) {
  return {
    id: newId(),
    comment_id: comment.id,
    text: Array.from(comment.text).slice(0, MAX_TEXT_LENGTH).join(""),
    author_id: comment.authorId,
    author_username: comment.authorUsername,
    commented_at: comment.createdAt.toISOString(),
    like_count: comment.likeCount,
    reply_count: comment.replyCount,
    hidden: comment.hidden,
  };
}

/** A comment of another author is a new one; a platform may leave the author out of an answer. */
function updateKnown(sql: ISql) {
  const isOther = sql`known.author_id <> excluded.author_id`;
  return sql`
    on conflict (account_id, media_id, comment_id) do update
    set text = excluded.text,
      author_id = coalesce(excluded.author_id, known.author_id),
      author_username = case
        when ${isOther} then excluded.author_username
        else coalesce(excluded.author_username, known.author_username)
      end,
      commented_at = case when ${isOther} then excluded.commented_at else known.commented_at end,
      like_count = excluded.like_count,
      reply_count = excluded.reply_count,
      hidden = excluded.hidden,
      state = case when ${isOther} then 'open' else known.state end
    where (known.text, known.author_id, known.like_count, known.reply_count, known.hidden)
      is distinct from (
        excluded.text, coalesce(excluded.author_id, known.author_id), excluded.like_count, excluded.reply_count,
        excluded.hidden
      )`;
}

/**
 * Stores what was read of readers' comments on one piece of media, and returns how many are new.
 * Known ones keep their state; unknown ones that are older than the history are done, because a
 * person may have set them to done before their rows were removed. On Bluesky the author of a
 * reply chooses its id, which is unique only within a thread: a comment never gets the text or the
 * state of one on other media, and one with the id of a deleted comment of another author is a new
 * comment. Several processes may read the same comments: the unique index decides, and rows are
 * written in the order of the comments, against deadlocks.
 */
export async function storeInboxComments(
  tx: TransactionSql,
  media: CommentedMedia,
  comments: readonly PlatformComment[],
  { historyDays }: { readonly historyDays: number },
): Promise<number> {
  if (comments.length === 0) return 0;
  const { workspaceId, accountId, platform, mediaId } = media;
  const rows = comments.map(toRow);
  const written = await tx<{ isNew: boolean }[]>`
    insert into inbox_comments as known (
      id, workspace_id, account_id, platform, media_id, comment_id, post_id, text, author_id, author_username,
      commented_at, like_count, reply_count, hidden, state
    )
    select r.id, ${workspaceId}::uuid, ${accountId}::uuid, ${platform}, ${mediaId}, r.comment_id, (
        select t.post_id
        from publish_tasks t
        where t.external_id = ${mediaId}
        and t.account_id = ${accountId}
        and t.status = 'published'
        limit 1
      ), r.text, r.author_id, r.author_username, r.commented_at, r.like_count, r.reply_count, coalesce(r.hidden, false),
      case when exists (
        select
        from comment_actions a
        where a.account_id = ${accountId}
        and a.media_id = ${mediaId}
        and a.comment_id = r.comment_id
        and a.type = 'reply'
        and a.status = 'succeeded'
      ) then 'answered'
      when r.commented_at < now() - ${historyDays}::int * interval '1 day' then 'done'
      else 'open' end
    from jsonb_to_recordset(${tx.json(rows)}) as r (
      id uuid, comment_id text, text text, author_id text, author_username text, commented_at timestamptz,
      like_count bigint, reply_count bigint, hidden boolean
    )
    order by r.comment_id
    ${updateKnown(tx)}
    returning xmax = 0 as is_new`;
  const count = written.filter(({ isNew }) => isNew).length;
  if (count > 0) await removeBeyondLimit(tx, workspaceId);
  return count;
}

async function removeBeyondLimit(tx: TransactionSql, workspaceId: string): Promise<void> {
  await tx`
    delete from inbox_comments
    where id in (
      select id
      from inbox_comments
      where workspace_id = ${workspaceId}
      order by commented_at desc, id desc
      offset ${MAX_KEPT}
    )`;
}

/** A reply answers its comment; hiding and showing it change what the inbox shows. */
export async function applyEndedActions(
  tx: TransactionSql,
  ended: readonly CommentAction[],
): Promise<void> {
  const rows = ended
    .filter(({ status, type }) => status === "succeeded" && type !== "private_reply")
    .map(({ accountId, mediaId, commentId, type }) => ({
      account_id: accountId,
      media_id: mediaId,
      comment_id: commentId,
      is_answer: type === "reply",
      hidden: type === "reply" ? null : type === "hide",
    }));
  if (rows.length === 0) return;
  await tx`
    update inbox_comments c
    set state = case when r.is_answer then 'answered' else c.state end,
      hidden = coalesce(r.hidden, c.hidden)
    from (
      select account_id, media_id, comment_id, bool_or(is_answer) as is_answer, bool_or(hidden) as hidden
      from jsonb_to_recordset(${tx.json(rows)})
        as r (account_id uuid, media_id text, comment_id text, is_answer boolean, hidden boolean)
      group by account_id, media_id, comment_id
    ) as r
    where c.account_id = r.account_id
    and c.media_id = r.media_id
    and c.comment_id = r.comment_id`;
}

/** Of one page of rows with ids below `before`. Returns the number of removed ones. */
export async function removeOldComments(sql: ISql, before: string, limit: number): Promise<number> {
  const removed = await sql`
    delete from inbox_comments
    where id in (select id from inbox_comments where id < ${before} order by id limit ${limit})`;
  return removed.count;
}
