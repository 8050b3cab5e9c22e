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

/** Sets both limits of a workspace. */
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
