import type { JsonValue } from "@bufbuild/protobuf";
import type { TransactionSql } from "@postrider/shared/postgres";
import { currentCause } from "@postrider/shared/telemetry/cause";
import { mediaUseHolds } from "#src/db/media-uses.ts";
import type { LockedPost, PostRef } from "#src/db/posts.ts";
import type { PostStatus } from "#src/domain/post-status.ts";
import type { PostOptions } from "#src/domain/post.ts";

/** The stored post as update, publish and delete requests read it before they change it. */
export interface CommandPost extends LockedPost {
  readonly version: number;
  readonly scheduledAt: Date | null;
  readonly queueSlotRuleId: string | null;
  /** The database time at which the transaction that locked the post began. */
  readonly now: Date;
}

/** Locks one post and reads the fields that a request to change or delete the post needs. */
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

/** The fields of a stored post that an update or publish request may replace. */
export interface PostReplacement extends PostRef {
  readonly status: PostStatus;
  readonly content: string;
  readonly options: PostOptions;
  readonly mediaIds: readonly string[];
  /** The media of the post as the media service returned them, as proto JSON. */
  readonly media: readonly JsonValue[];
  readonly platforms: readonly string[];
  readonly scheduledAt: Date | null;
  readonly startedAt: Date | null;
  readonly queueSlotRuleId: string | null;
  /**
   * The database's time, read before the media service was asked to record that the post uses its media (the claim on media).
   * The age of the claim is counted from this time.
   */
  readonly notedAfter: Date;
}

/**
 * Writes a locked post and raises its version. The write fails with `media_use_expired` when the claim on the post's
 * media is too old.
 */
export async function replacePostRow(tx: TransactionSql, post: PostReplacement): Promise<void> {
  const holds = mediaUseHolds(
    tx,
    tx`${`{${post.mediaIds.join(",")}}`}::uuid[]`,
    tx`${post.notedAfter}::timestamptz`,
  );
  await tx`
    update posts
    set status = ${post.status},
      content = ${post.content},
      options = ${tx.json(post.options as Record<string, never>)},
      media_ids = ${`{${post.mediaIds.join(",")}}`}::uuid[],
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
    and case when ${holds} then true else refuse('media_use_expired') end`;
}

/** Deletes a locked post and everything that belongs to it, and returns the ids of its media. */
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
