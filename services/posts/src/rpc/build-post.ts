import { toJson, type MessageInitShape } from "@bufbuild/protobuf";
import { MediaSchema, type Media } from "@postrider/contracts/media/v1/media_pb";
import type { PostSchema } from "@postrider/contracts/posts/v1/post_pb";
import { newId } from "@postrider/shared/ids";
import type { NewPost, NewTarget, TargetJson } from "#src/db/posts.ts";
import type { PostInput } from "#src/domain/check-post.ts";
import type { PostAccount } from "#src/domain/post.ts";
import { toPost } from "#src/rpc/to-post.ts";

/** A checked request with all that it names. */
interface CheckedPost extends PostInput {
  readonly workspaceId: string;
  readonly createdVia: string;
  readonly accounts: ReadonlyMap<string, PostAccount>;
  readonly media: ReadonlyMap<string, Media>;
  readonly now: Date;
  readonly missedAfterMs: number;
}

/** The rows to insert. Username and media are copied: a later read asks no other service. */
export function buildPost(checked: CheckedPost): NewPost {
  const { now, accounts, media } = checked;
  return {
    id: newId(),
    workspaceId: checked.workspaceId,
    content: checked.content,
    options: checked.options,
    mediaIds: checked.mediaIds,
    media: checked.mediaIds.flatMap((id) => {
      const item = media.get(id);
      return item === undefined ? [] : [toJson(MediaSchema, item)];
    }),
    createdVia: checked.createdVia,
    acceptedAt: now,
    publishBefore: new Date(now.getTime() + checked.missedAfterMs),
    targets: checked.accountIds.flatMap((id) => {
      const account = accounts.get(id);
      return account === undefined ? [] : [toNewTarget(account)];
    }),
  };
}

function toNewTarget({ id, platform, username }: PostAccount): NewTarget {
  return { id: newId(), accountId: id, platform, username };
}

function toTargetJson(target: NewTarget): TargetJson {
  return {
    ...target,
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
    status: "publishing",
    scheduledAt: null,
    startedAt: acceptedAt,
    publishedAt: null,
    queueSlotRuleId: null,
    createdAt: acceptedAt,
    updatedAt: acceptedAt,
    version: 1,
    effectiveAt: acceptedAt,
    targets: post.targets.map(toTargetJson),
    attempts: [],
  });
}
