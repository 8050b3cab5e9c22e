import type { ISql, TransactionSql } from "@postrider/shared/postgres";

/** The limits of a workspace that differ from the defaults; null = the default. */
export interface OwnPostLimits {
  readonly drafts: number | null;
  readonly bytes: number | null;
}

/** Until this transaction ends, no other transaction can change limits of this workspace. */
export async function lockPostLimits(tx: TransactionSql, workspaceId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtext('posts.limits'), hashtext(${workspaceId}))`;
}

export async function findOwnPostLimits(sql: ISql, workspaceId: string): Promise<OwnPostLimits> {
  const [row] = await sql<OwnPostLimits[]>`
    select drafts, bytes
    from post_limits
    where workspace_id = ${workspaceId}`;
  return { drafts: row?.drafts ?? null, bytes: row?.bytes ?? null };
}

export async function setOwnPostLimits(
  sql: ISql,
  workspaceId: string,
  { drafts, bytes }: OwnPostLimits,
): Promise<void> {
  await sql`
    insert into post_limits (workspace_id, drafts, bytes)
    values (${workspaceId}, ${drafts}, ${bytes})
    on conflict (workspace_id) do update
    set drafts = excluded.drafts,
      bytes = excluded.bytes`;
}

/** Database triggers keep the numbers and refuse what exceeds a limit. */
interface PostUsage {
  readonly drafts: number;
  readonly maxDrafts: number;
  /** Bytes of posts with over 4,096 bytes, and of large responses that are kept for replays. */
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
