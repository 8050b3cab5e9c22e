import type { ISql } from "@postrider/shared/postgres";

export interface MediaRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly status: "pending" | "ready" | "rejected" | "deleting";
  readonly kind: "image" | "video";
  readonly contentType: string;
  readonly bytes: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  readonly sha256: string | null;
  readonly fileName: string;
  readonly createdAt: Date;
}

export async function listMediaByIds(
  sql: ISql,
  workspaceId: string,
  ids: readonly string[],
): Promise<readonly MediaRow[]> {
  return await sql<MediaRow[]>`
    select id, workspace_id, status, kind, content_type, bytes, width, height, duration_ms, sha256, file_name, created_at
    from media
    where workspace_id = ${workspaceId}
    and id = any(${ids as string[]}::uuid[])`;
}
