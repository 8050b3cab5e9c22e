import type { Locale } from "#src/locale.ts";
import type { PostDetailJson, PostSummaryJson } from "#src/posts/schemas.ts";
import { actionFor, causeFor, type FailedRecord } from "#src/target-errors/action-for.ts";

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
  error:
    | { readonly code: string; readonly message: string; readonly retryable: boolean }
    | undefined,
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

/** The short form of a post, of its whole form. */
export function toPostSummary(post: PostDetailJson): PostSummaryJson {
  const short = post.targets.map(({ accountId, platform, status, permalink, error }) => ({
    accountId,
    platform,
    status,
    permalink,
    errorCode: error?.code ?? null,
  }));
  return {
    id: post.id,
    status: post.status,
    content: post.content,
    scheduledAt: post.scheduledAt,
    startedAt: post.startedAt,
    publishedAt: post.publishedAt,
    createdVia: post.createdVia,
    createdAt: post.createdAt,
    updatedAt: post.updatedAt,
    mediaIds: post.mediaIds,
    targets: short,
  };
}
