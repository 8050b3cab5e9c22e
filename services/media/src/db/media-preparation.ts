import type { ISql } from "@postrider/shared/postgres";

export async function markPrepared(
  sql: ISql,
  workspaceId: string,
  media: readonly { readonly mediaId: string; readonly postId: string | null }[],
): Promise<void> {
  const rows = [...new Map(media.map((each) => [each.mediaId, each])).values()];
  await sql`
    update media
    set prepared_at = now(),
      prepared_for = wanted.post_id
    from jsonb_to_recordset(${sql.json(rows.map(({ mediaId, postId }) => ({ id: mediaId, post_id: postId })))})
      as wanted (id uuid, post_id uuid)
    where media.workspace_id = ${workspaceId}
    and media.id = wanted.id
    and media.status = 'ready'
    and media.prepared_at is null`;
}
