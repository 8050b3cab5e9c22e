import type { JsonValue } from "@bufbuild/protobuf";
import type { TransactionSql } from "@postrider/shared/postgres";
import { currentCause } from "@postrider/shared/telemetry/cause";
import { toTargetRecords } from "#src/db/new-post.ts";
import type { LockedPost, PostRef } from "#src/db/posts.ts";
import type { Due, PlannedTarget } from "#src/domain/plan-post.ts";
import type { PostStatus } from "#src/domain/post-status.ts";
import type { PostOptions } from "#src/domain/post.ts";

export interface CommandPost extends LockedPost {
  readonly version: number;
  readonly scheduledAt: Date | null;
  readonly queueSlotRuleId: string | null;
  /** The database time at which the transaction that locked the post began. */
  readonly now: Date;
}

export async function lockPost(
  tx: TransactionSql,
  { workspaceId, postId }: PostRef,
): Promise<CommandPost | undefined> {
  const [row] = await tx<CommandPost[]>`
    select workspace_id, id as post_id, status, version, scheduled_at, queue_slot_rule_id, now() as now
    from posts
    where workspace_id = ${workspaceId}
    and id = ${postId}
    for update`;
  return row;
}

export interface PostReplacement extends PostRef {
  readonly status: PostStatus;
  readonly content: string;
  readonly options: PostOptions;
  readonly mediaIds: readonly string[];
  readonly media: readonly JsonValue[];
  readonly platforms: readonly string[];
  readonly scheduledAt: Date | null;
  readonly startedAt: Date | null;
  readonly queueSlotRuleId: string | null;
  /** When the claim on media was made; see `NewPost.acceptedAt`. */
  readonly notedAfter: Date;
}

/** Raises the version. Fails with `media_use_expired` when the claim on media is too old. */
export async function replacePostRow(tx: TransactionSql, post: PostReplacement): Promise<void> {
  const mediaIds = `{${post.mediaIds.join(",")}}`;
  await tx`
    update posts
    set status = ${post.status},
      content = ${post.content},
      options = ${tx.json(post.options as Record<string, never>)},
      media_ids = ${mediaIds}::uuid[],
      media = ${tx.json([...post.media])},
      platforms = ${`{${post.platforms.join(",")}}`}::text[],
      scheduled_at = ${post.scheduledAt},
      started_at = ${post.startedAt},
      queue_slot_rule_id = ${post.queueSlotRuleId},
      cause = ${tx.json(currentCause())},
      version = version + 1,
      updated_at = greatest(updated_at, now())
    where workspace_id = ${post.workspaceId}
    and id = ${post.postId}
    and case
      when media_use_holds(${mediaIds}::uuid[], ${post.notedAfter}::timestamptz) then true
      else refuse('media_use_expired')
    end`;
}

/** Returns the ids of its media. */
export async function deletePostRow(
  tx: TransactionSql,
  { workspaceId, postId }: PostRef,
): Promise<readonly string[]> {
  const [row] = await tx<{ mediaIds: string[] }[]>`
    delete from posts
    where workspace_id = ${workspaceId}
    and id = ${postId}
    returning media_ids`;
  return row?.mediaIds ?? [];
}

/**
 * In the given order; a target whose id exists keeps its row. Ordinals are negated first, because a
 * unique index forbids equal ones.
 */
export async function replaceTargets(
  tx: TransactionSql,
  { workspaceId, postId }: PostRef,
  { targets, due }: { readonly targets: readonly PlannedTarget[]; readonly due: Due | null },
): Promise<void> {
  await tx`
    delete from targets
    where workspace_id = ${workspaceId}
    and post_id = ${postId}
    and id <> all (${`{${targets.map(({ id }) => id).join(",")}}`}::uuid[])`;
  await tx`
    update targets
    set ordinal = -1 - ordinal
    where workspace_id = ${workspaceId}
    and post_id = ${postId}`;
  await tx`
    insert into targets (
      id, workspace_id, post_id, ordinal, account_id, platform, username, generation, due_at, publish_before, due_day,
      content_hash, settings, last_report_at, updated_at
    )
    select
      id, ${workspaceId}::uuid, ${postId}::uuid, ordinal, account_id, platform, username, 1,
      ${due?.dueAt ?? null}::timestamptz, ${due?.publishBefore ?? null}::timestamptz, due_day,
      decode(content_hash, 'hex'), settings, coalesce(${due?.dueAt ?? null}::timestamptz, now()), now()
    from jsonb_to_recordset(${tx.json(toTargetRecords(targets))}) as target (
      id uuid, ordinal int, account_id uuid, platform text, username text, due_day text, content_hash text, settings jsonb
    )
    on conflict (id) do update
    set ordinal = excluded.ordinal,
      username = excluded.username,
      due_at = excluded.due_at,
      publish_before = excluded.publish_before,
      due_day = excluded.due_day,
      content_hash = excluded.content_hash,
      settings = excluded.settings,
      last_report_at = excluded.last_report_at,
      updated_at = excluded.updated_at`;
}
