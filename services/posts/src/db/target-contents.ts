import type { JsonValue } from "@bufbuild/protobuf";
import type { ISql } from "@postrider/shared/postgres";
import { toRecords, type TargetKey } from "#src/db/targets.ts";
import type { PostOptions } from "#src/domain/post.ts";

/** What a target needs of its post to be published. */
export interface WantedTarget extends TargetKey {
  readonly accountId: string;
  readonly platform: string;
  readonly content: string;
  readonly options: PostOptions;
  readonly media: readonly JsonValue[];
}

/**
 * Those of the targets that are to be published at just that generation. `limit 1` keeps the planner to the keys: when
 * many posts have just become due, its statistics still say that hardly any is `publishing`, and it would begin with those.
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
