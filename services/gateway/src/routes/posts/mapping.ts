import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  Attempt,
  Post,
  PostOption,
  PostOptionSchema,
  Target,
  TargetError,
} from "@postrider/contracts/posts/v1/post_pb";
import type {
  DeletePostResponse,
  ValidatePostResponse,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { ServiceError } from "@postrider/shared/errors";
import type { FastifyReply } from "fastify";
import type { Static } from "typebox";
import { type Locale, targetMessageFor } from "#src/http/messages.ts";
import { toOptionalInstant } from "#src/http/timestamps.ts";
import type { MediaLinks } from "#src/routes/media/links.ts";
import { toReadyMedia } from "#src/routes/media/mapping.ts";
import type { CreatePost } from "#src/routes/posts/request-schemas.ts";

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

/**
 * Converts the error of a publishing target to the form of the API. The message is that of the platform or, if it sent
 * none, our message for the error code.
 */
function toTargetError(error: TargetError | undefined, locale: Locale) {
  if (error === undefined) return null;
  const { code, message, retryable } = error;
  return { code, message: message === "" ? targetMessageFor(locale, code) : message, retryable };
}

function toTarget(target: Target, locale: Locale) {
  return {
    id: target.id,
    accountId: target.accountId,
    platform: target.platform,
    username: target.username,
    status: target.status,
    externalId: target.externalId ?? null,
    permalink: target.permalink ?? null,
    publishedAt: toOptionalInstant(target.publishedAt),
    error: toTargetError(target.error, locale),
    attemptCount: target.attemptCount,
    nextAttemptAt: toOptionalInstant(target.nextAttemptAt),
    metrics: null,
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

/** Converts a post to its short form in a list. */
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

/** Converts a post to the form of the API, with its publishing targets, their attempts, and its media. */
function toPostDetail(post: Post, links: MediaLinks, locale: Locale) {
  return {
    ...toCommon(post),
    options: Object.fromEntries(
      Object.entries(post.options).map(([key, option]) => [key, toOption(option)]),
    ),
    queueSlotRuleId: post.queueSlotRuleId ?? null,
    media: post.media.map((media) => toReadyMedia(post.workspaceId, media, links)),
    targets: post.targets.map((target) => toTarget(target, locale)),
    attempts: post.attempts.map(toAttempt),
  };
}

/** Returns the ETag of a post, which changes with every visible change of the post. */
export function toETag(post: Post): string {
  return `"${post.version}"`;
}

export function toValidPost({ scheduledAt, targets }: ValidatePostResponse) {
  return {
    valid: true as const,
    scheduledAt: toOptionalInstant(scheduledAt),
    targets: targets.map(({ accountId, platform }) => ({ accountId, platform })),
  };
}

/**
 * Returns the answer to the deletion of a published post: the status of the post, and whether the post is deleted on
 * each platform.
 */
export function toPostDeletion(post: Post, targets: DeletePostResponse["targets"], locale: Locale) {
  return {
    id: post.id,
    status: post.status,
    targets: targets.map(({ accountId, platform, status, error }) => ({
      accountId,
      platform,
      status,
      error: toTargetError(error, locale),
    })),
  };
}

/** Sends the whole post with its ETag and with newly signed URLs of its media. */
export function sendPost(reply: FastifyReply, post: Post | undefined, links: MediaLinks) {
  // An answer of the posts service without a post is a fault of that service, not of the client.
  if (post === undefined) throw new ServiceError("internal", "internal");
  return reply.header("etag", toETag(post)).send(toPostDetail(post, links, reply.request.locale));
}
