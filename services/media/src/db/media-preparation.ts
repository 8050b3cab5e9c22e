import type { ISql } from "@postrider/shared/postgres";

/**
 * Records that platforms are about to receive ready media, after which their description and their cover do not change.
 */
export async function markPrepared(
  sql: ISql,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  await sql`
    update media
    set prepared_at = now()
    where workspace_id = ${workspaceId}
    and id = any(${ids as string[]}::uuid[])
    and status = 'ready'
    and prepared_at is null`;
}

/** Stores the number of frames of an image that was accepted by a release that did not count them. */
export async function storeFrames(
  sql: ISql,
  { workspaceId, mediaId }: { readonly workspaceId: string; readonly mediaId: string },
  frames: number,
): Promise<void> {
  await sql`
    update media
    set frames = ${frames}
    where workspace_id = ${workspaceId}
    and id = ${mediaId}
    and frames is null`;
}
