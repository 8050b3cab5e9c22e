import type { JsonValue } from "@bufbuild/protobuf";
import type { ISql } from "@postrider/shared/postgres";
import type { PostOptions } from "#src/domain/post.ts";

/** A target at a generation. */
export interface TargetKey {
  readonly workspaceId: string;
  readonly targetId: string;
  readonly generation: number;
}

/** Converts keys to the records that `jsonb_to_recordset(…) as key (workspace_id uuid, id uuid, generation int)` reads. */
export function toRecords(keys: readonly TargetKey[]) {
  return keys.map((key) => ({
    workspace_id: key.workspaceId,
    id: key.targetId,
    generation: key.generation,
  }));
}

/** A target that still has to be published, and its content. */
export interface WantedTarget extends TargetKey {
  readonly accountId: string;
  readonly platform: string;
  readonly content: string;
  readonly options: PostOptions;
  readonly media: readonly JsonValue[];
}

/**
 * Reads those of the targets that still have to be published at the given generation. `limit 1` makes the planner look the
 * rows up by key. Without it the planner would scan by status right after many posts have become due, because its
 * statistics still say that few posts are `publishing`.
 */
export async function listWantedTargets(
  sql: ISql,
  keys: readonly TargetKey[],
): Promise<readonly WantedTarget[]> {
  return await sql<WantedTarget[]>`
    select key.workspace_id, key.id as target_id, key.generation, target.account_id, target.platform,
      post.content, post.options, post.media
    from jsonb_to_recordset(${sql.json(toRecords(keys))}) as key (workspace_id uuid, id uuid, generation int),
    lateral (
      select post_id, account_id, platform, status
      from targets
      where id = key.id
      and workspace_id = key.workspace_id
      and generation = key.generation
      limit 1
    ) as target,
    lateral (
      select content, options, media, status
      from posts
      where id = target.post_id
      and workspace_id = key.workspace_id
      limit 1
    ) as post
    where target.status in ('pending', 'publishing')
    and post.status = 'publishing'`;
}
