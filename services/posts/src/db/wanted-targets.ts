import type { JsonValue } from "@bufbuild/protobuf";
import type { ISql } from "@postrider/shared/postgres";
import { toRecords, type TargetKey } from "#src/db/targets.ts";
import type { PostOptions } from "#src/domain/post.ts";

export interface WantedTarget extends TargetKey {
  readonly accountId: string;
  readonly platform: string;
  /** The text of the post; empty if the options contain another text for the target. */
  readonly content: string;
  /** The options for the account and for the platform of the target. */
  readonly options: PostOptions;
  readonly media: readonly JsonValue[];
  /** The settings of the account when the post was accepted; null = the defaults. */
  readonly settings: JsonValue | null;
}

/**
 * Targets with a newer generation are left out. Only what a target uses of its post is read, up to
 * 100 times. `limit 1` makes Postgres look up each post by its key: right after many posts became
 * due, it would otherwise scan all posts with the status `publishing`, because its statistics still
 * say that there are few.
 */
export async function listWantedTargets(
  sql: ISql,
  keys: readonly TargetKey[],
): Promise<readonly WantedTarget[]> {
  return await sql<WantedTarget[]>`
    select key.workspace_id, key.id as target_id, key.generation, target.account_id, target.platform,
      case when own.options -> target.account_id ? 'content' or own.options -> target.platform ? 'content' then ''
        else post.content
      end as content,
      own.options, post.media, target.settings
    from jsonb_to_recordset(${sql.json(toRecords(keys))}) as key (workspace_id uuid, id uuid, generation int),
    lateral (
      select post_id, account_id::text, platform, status, settings
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
    ) as post,
    lateral (
      select coalesce(jsonb_object_agg(option.key, option.value), '{}') as options
      from (values (target.account_id), (target.platform)) as used (key),
      lateral (select used.key, post.options -> used.key as value) as option
      where option.value is not null
    ) as own
    where target.status in ('pending', 'publishing')
    and post.status = 'publishing'`;
}
