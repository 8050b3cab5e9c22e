import { toJson, type MessageInitShape } from "@bufbuild/protobuf";
import { MediaSchema, type Media } from "@postrider/contracts/media/v1/media_pb";
import type { PostSchema } from "@postrider/contracts/posts/v1/post_pb";
import { newId } from "@postrider/shared/ids";
import type { NewPost, NewTarget } from "#src/db/insert-post.ts";
import type { TargetJson } from "#src/db/posts.ts";
import type { PostInput } from "#src/domain/check-post.ts";
import { contentHash } from "#src/domain/content-hash.ts";
import { effectiveContent } from "#src/domain/effective-content.ts";
import type { PostAccount } from "#src/domain/post.ts";
import { dayOf } from "#src/domain/quota.ts";
import { toPost } from "#src/rpc/to-post.ts";

/** A checked request with all that it names. */
interface CheckedPost extends PostInput {
  readonly postId: string;
  readonly workspaceId: string;
  readonly createdVia: string;
  readonly accounts: ReadonlyMap<string, PostAccount>;
  readonly media: ReadonlyMap<string, Media>;
  readonly now: Date;
  readonly missedAfterMs: number;
}

/** What becomes of an accepted post first; a draft may have a plan. */
export type Placement =
  | { readonly status: "draft"; readonly scheduledAt: Date | null }
  | { readonly status: "scheduled"; readonly scheduledAt: Date; readonly ruleId: string | null }
  | { readonly status: "publishing"; readonly scheduledAt: Date | null };

/** The rows to insert. Username and media are copied: a later read asks no other service. */
export function buildPost(checked: CheckedPost, place: Placement): NewPost {
  const { now, accounts, media } = checked;
  const dueAt = dueTime(place, now);
  const due =
    dueAt === null
      ? null
      : { dueAt, publishBefore: new Date(dueAt.getTime() + checked.missedAfterMs) };
  return {
    id: checked.postId,
    workspaceId: checked.workspaceId,
    status: place.status,
    content: checked.content,
    options: checked.options,
    mediaIds: checked.mediaIds,
    media: checked.mediaIds.flatMap((id) => {
      const item = media.get(id);
      return item === undefined ? [] : [toJson(MediaSchema, item)];
    }),
    createdVia: checked.createdVia,
    acceptedAt: now,
    scheduledAt: place.scheduledAt,
    queueSlotRuleId: place.status === "scheduled" ? place.ruleId : null,
    due,
    targets: checked.accountIds.flatMap((id) => {
      const account = accounts.get(id);
      return account === undefined ? [] : [toNewTarget(checked, account, dueAt)];
    }),
  };
}

function dueTime(place: Placement, now: Date): Date | null {
  if (place.status === "draft") return null;
  return place.status === "scheduled" ? place.scheduledAt : now;
}

/** What a draft would publish is compared with nothing, and counts nowhere. */
function toNewTarget(
  { content, options, mediaIds }: PostInput,
  { id, platform, username }: PostAccount,
  dueAt: Date | null,
): NewTarget {
  const target = { id: newId(), accountId: id, platform, username };
  if (dueAt === null) return { ...target, dueDay: null, contentHash: null };
  const { text } = effectiveContent(content, options, target);
  return { ...target, dueDay: dayOf(dueAt), contentHash: contentHash(text, mediaIds) };
}

function toTargetJson({ id, accountId, platform, username }: NewTarget): TargetJson {
  return {
    id,
    accountId,
    platform,
    username,
    status: "pending",
    externalId: null,
    permalink: null,
    publishedAt: null,
    errorCode: null,
    errorMessage: null,
    errorRetryable: null,
    attemptCount: 0,
    nextAttemptAt: null,
  };
}

/** The answer for a post that was just accepted: what reading it back would give. */
export function toAcceptedPost(post: NewPost): MessageInitShape<typeof PostSchema> {
  const { acceptedAt } = post;
  return toPost({
    ...post,
    startedAt: post.status === "publishing" ? acceptedAt : null,
    publishedAt: null,
    createdAt: acceptedAt,
    updatedAt: acceptedAt,
    version: 1,
    effectiveAt: post.scheduledAt ?? acceptedAt,
    targets: post.targets.map(toTargetJson),
    attempts: [],
  });
}
