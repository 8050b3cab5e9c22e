import type { ISql } from "@postrider/shared/postgres";

/** What a workspace stores and may store. Database triggers keep the numbers and refuse what exceeds a limit. */
export interface PostUsage {
  readonly drafts: number;
  readonly maxDrafts: number;
  /** Bytes of posts with over 4,096 bytes, and of large responses that are kept for repeated requests. */
  readonly bytes: number;
  readonly maxBytes: number;
}

export async function readPostUsage(sql: ISql, workspaceId: string): Promise<PostUsage> {
  const [row] = await sql<PostUsage[]>`
    select coalesce(used.drafts, 0) as drafts, limits.drafts as max_drafts,
      coalesce(used.bytes, 0)::bigint as bytes, limits.bytes as max_bytes
    from limits_of_posts(${workspaceId}) as limits
    left join post_usage as used on used.workspace_id = ${workspaceId}`;
  if (row === undefined) throw new Error("the limits of a workspace returned no row");
  return row;
}
