import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type {
  Attempt,
  Post,
  PostOption,
  PostOptionSchema,
  Target,
} from "@postrider/contracts/posts/v1/post_pb";
import type { Static } from "typebox";
import { toOptionalInstant } from "#src/routes/instant.ts";
import type { CreatePost } from "#src/routes/posts/schemas.ts";

type OptionBody = NonNullable<Static<typeof CreatePost>["options"]>[string];

function fromOption(option: OptionBody): MessageInitShape<typeof PostOptionSchema> {
  const { tags, ...rest } = option;
  return tags === undefined ? rest : { ...rest, tags: { values: tags } };
}

export function fromOptions(
  options: Record<string, OptionBody> | undefined,
): Record<string, MessageInitShape<typeof PostOptionSchema>> {
  return Object.fromEntries(
    Object.entries(options ?? {}).map(([key, option]) => [key, fromOption(option)]),
  );
}

function toOption({ content, title, privacy, tags }: PostOption): OptionBody {
  return {
    ...(content === undefined ? {} : { content }),
    ...(title === undefined ? {} : { title }),
    ...(privacy === undefined ? {} : { privacy }),
    ...(tags === undefined ? {} : { tags: tags.values }),
  };
}

function toTarget(target: Target) {
  const { error } = target;
  return {
    id: target.id,
    accountId: target.accountId,
    platform: target.platform,
    username: target.username,
    status: target.status,
    externalId: target.externalId ?? null,
    permalink: target.permalink ?? null,
    publishedAt: toOptionalInstant(target.publishedAt),
    error:
      error === undefined
        ? null
        : { code: error.code, message: error.message, retryable: error.retryable },
    attemptCount: target.attemptCount,
    nextAttemptAt: toOptionalInstant(target.nextAttemptAt),
    metrics: null,
  };
}

function toMedia(media: Media) {
  return {
    id: media.id,
    status: "ready",
    kind: media.kind,
    contentType: media.contentType,
    bytes: Number(media.bytes),
    width: media.width,
    height: media.height,
    durationMs: media.durationMs === undefined ? null : Number(media.durationMs),
    sha256: media.sha256,
    fileName: media.fileName,
    createdAt: toOptionalInstant(media.createdAt),
  };
}

function toAttempt(attempt: Attempt) {
  return {
    accountId: attempt.accountId,
    number: attempt.number,
    startedAt: toOptionalInstant(attempt.startedAt),
    finishedAt: toOptionalInstant(attempt.finishedAt),
    outcome: attempt.outcome,
    code: attempt.code === "" ? null : attempt.code,
    message: attempt.message === "" ? null : attempt.message,
  };
}

function toCommon(post: Post) {
  return {
    id: post.id,
    status: post.status,
    content: post.content,
    scheduledAt: toOptionalInstant(post.scheduledAt),
    startedAt: toOptionalInstant(post.startedAt),
    publishedAt: toOptionalInstant(post.publishedAt),
    createdVia: post.createdVia,
    createdAt: toOptionalInstant(post.createdAt),
    updatedAt: toOptionalInstant(post.updatedAt),
    mediaIds: post.mediaIds,
  };
}

/** One row of a list. */
export function toPostSummary(post: Post) {
  const targets = post.targets.map((target) => ({
    accountId: target.accountId,
    platform: target.platform,
    status: target.status,
    permalink: target.permalink ?? null,
    errorCode: target.error?.code ?? null,
  }));
  return { ...toCommon(post), targets };
}

/** A post with everything that is known of its targets. */
export function toPostDetail(post: Post) {
  return {
    ...toCommon(post),
    options: Object.fromEntries(
      Object.entries(post.options).map(([key, option]) => [key, toOption(option)]),
    ),
    queueSlotRuleId: post.queueSlotRuleId ?? null,
    media: post.media.map(toMedia),
    targets: post.targets.map(toTarget),
    attempts: post.attempts.map(toAttempt),
  };
}

/** Changes with every visible change of the post. */
export function toETag(post: Post): string {
  return `"${post.version}"`;
}
