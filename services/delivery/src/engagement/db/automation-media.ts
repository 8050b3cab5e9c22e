import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { WatchedMedia } from "#src/engagement/domain/media-watch.ts";

export async function listWatchedMedia(
  sql: ISql,
  { workspaceId, accountId }: { readonly workspaceId: string; readonly accountId: string },
  mediaIds: readonly string[],
): Promise<readonly WatchedMedia[]> {
  return await sql<WatchedMedia[]>`
    select media_id, comment_count, read_until, read_cursor, read_newest, quiet_reads, read_at, failures, last_error
    from automation_media
    where account_id = ${accountId}
    and workspace_id = ${workspaceId}
    and media_id = any(${[...mediaIds]}::text[])`;
}

export async function upsertWatchedMedia(
  tx: TransactionSql,
  { accountId, workspaceId }: { readonly accountId: string; readonly workspaceId: string },
  media: WatchedMedia,
): Promise<void> {
  // Only the holder of the account's lease writes the rows of its media, so a row does not change
  // between read and write.
  await tx`
    insert into automation_media (
      account_id, media_id, workspace_id, comment_count, read_until, read_cursor, read_newest, quiet_reads, read_at,
      failures, last_error
    ) values (
      ${accountId}, ${media.mediaId}, ${workspaceId}, ${media.commentCount}, ${media.readUntil}, ${media.readCursor},
      ${media.readNewest}, ${media.quietReads}, ${media.readAt}, ${media.failures}, ${media.lastError}
    )
    on conflict (account_id, media_id) do update
    set comment_count = excluded.comment_count,
      read_until = excluded.read_until,
      read_cursor = excluded.read_cursor,
      read_newest = excluded.read_newest,
      quiet_reads = excluded.quiet_reads,
      read_at = excluded.read_at,
      failures = excluded.failures,
      last_error = excluded.last_error`;
}
