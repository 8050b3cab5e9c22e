import type { TargetMetrics } from "@postrider/contracts/engagement/v1/metrics_service_pb";
import type { Post, Target, TargetError } from "@postrider/contracts/posts/v1/post_pb";
import type { Locale } from "#src/locale.ts";
import { actionFor, causeFor, type FailedRecord } from "#src/target-errors/action-for.ts";
import { toOptionalInstant } from "#src/timestamps.ts";

/**
 * The fields of a target, a deletion or an action on a comment on which the advice about its error
 * depends.
 */
export type RecordWithError = Omit<FailedRecord, "code" | "retryable">;

/**
 * Converts the error of a target, a deletion or an action on a comment to the form of the API. The
 * message is that of the platform or, if it sent none, our text for the error code. The action is
 * our advice.
 */
export function toTargetError(
  error: Pick<TargetError, "code" | "message" | "retryable"> | undefined,
  record: RecordWithError,
  locale: Locale,
) {
  if (error === undefined) return null;
  const { code, message, retryable } = error;
  return {
    code,
    message: message === "" ? causeFor(locale, record.work, code) : message,
    retryable,
    action: actionFor(locale, { ...record, code, retryable }),
  };
}

const DELETION_STATUSES: ReadonlySet<string> = new Set(["deleting", "deleted", "delete_failed"]);

/**
 * Converts the error of a target: that of its deletion if one was requested, otherwise that of
 * publishing.
 */
function toErrorOf(target: Target, nextAttemptAt: string | null, locale: Locale) {
  const { status, platform } = target;
  const work = DELETION_STATUSES.has(status) ? "deletion" : "publication";
  return toTargetError(target.error, { work, status, platform, nextAttemptAt }, locale);
}

export function toMetrics(metrics: TargetMetrics | undefined) {
  const refreshedAt = toOptionalInstant(metrics?.refreshedAt);
  if (metrics === undefined || refreshedAt === null) return null;
  return {
    views: toCount(metrics.views),
    impressions: toCount(metrics.impressions),
    reach: toCount(metrics.reach),
    likes: toCount(metrics.likes),
    comments: toCount(metrics.comments),
    shares: toCount(metrics.shares),
    saves: toCount(metrics.saves),
    refreshedAt,
  };
}

export type Metrics = NonNullable<ReturnType<typeof toMetrics>>;

function toCount(value: bigint | undefined): number | null {
  return value === undefined ? null : Number(value);
}

export function toTarget(target: Target, locale: Locale) {
  const nextAttemptAt = toOptionalInstant(target.nextAttemptAt);
  return {
    id: target.id,
    accountId: target.accountId,
    platform: target.platform,
    username: target.username,
    status: target.status,
    externalId: target.externalId ?? null,
    permalink: target.permalink ?? null,
    publishedAt: toOptionalInstant(target.publishedAt),
    error: toErrorOf(target, nextAttemptAt, locale),
    attemptCount: target.attemptCount,
    nextAttemptAt,
    metrics: toMetrics(target.metrics),
  };
}

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
