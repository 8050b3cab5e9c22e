import type { Post, Target, TargetError } from "@postrider/contracts/posts/v1/post_pb";
import type { Locale } from "#src/locale.ts";
import { toMetrics } from "#src/posts/metrics.ts";
import { targetMessageFor } from "#src/posts/target-messages.ts";
import { toOptionalInstant } from "#src/timestamps.ts";

/**
 * Converts the error of a publishing target to the form of the API. The message is that of the platform or, if it sent
 * none, our message for the error code.
 */
export function toTargetError(error: TargetError | undefined, locale: Locale) {
  if (error === undefined) return null;
  const { code, message, retryable } = error;
  return { code, message: message === "" ? targetMessageFor(locale, code) : message, retryable };
}

/** Converts a publishing target, that is a post on one account, to the form of the API. */
export function toTarget(target: Target, locale: Locale) {
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
    metrics: toMetrics(target.metrics),
  };
}

/** Converts the properties that the short and the long form of a post share. */
export function toPostProperties(post: Post) {
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
  return { ...toPostProperties(post), targets };
}
