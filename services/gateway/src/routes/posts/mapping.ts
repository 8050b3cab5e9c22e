import { fromOptionMessages } from "@postrider/contracts/post-options";
import type { Attempt, Post } from "@postrider/contracts/posts/v1/post_pb";
import type {
  DeletePostResponse,
  ValidatePostResponse,
} from "@postrider/contracts/posts/v1/post_service_pb";
import type { Locale } from "@postrider/rest/locale";
import type { MediaLinks } from "@postrider/rest/media/links";
import { toReadyMedia } from "@postrider/rest/media/mapping";
import { toPostProperties, toTarget, toTargetError } from "@postrider/rest/posts/mapping";
import { toOptionalInstant } from "@postrider/rest/timestamps";
import { ServiceError } from "@postrider/shared/errors";
import type { FastifyReply } from "fastify";

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

export function toPostDetail(post: Post, links: MediaLinks, locale: Locale) {
  return {
    ...toPostProperties(post),
    options: fromOptionMessages(post.options),
    queueSlotRuleId: post.queueSlotRuleId ?? null,
    media: post.media.map((media) => toReadyMedia(post.workspaceId, media, links)),
    targets: post.targets.map((target) => toTarget(target, locale)),
    attempts: post.attempts.map(toAttempt),
  };
}

/**
 * Returns the ETag of a post, which changes with every visible change of the post.
 *
 * @param descriptionsHash Hash of the descriptions of its media, if they were changed after the
 *   post was accepted.
 */
export function toETag(post: Post, descriptionsHash?: string): string {
  return descriptionsHash === undefined
    ? `"${post.version}"`
    : `"${post.version}.${descriptionsHash}"`;
}

export function toValidPost({ scheduledAt, targets }: ValidatePostResponse) {
  return {
    valid: true as const,
    scheduledAt: toOptionalInstant(scheduledAt),
    targets: targets.map(({ accountId, platform }) => ({ accountId, platform })),
  };
}

export function toPostDeletion(post: Post, targets: DeletePostResponse["targets"], locale: Locale) {
  return {
    id: post.id,
    status: post.status,
    targets: targets.map(({ accountId, platform, status, error }) => ({
      accountId,
      platform,
      status,
      error: toTargetError(error, { work: "deletion", status, platform }, locale),
    })),
  };
}

/** Sends the whole post with its ETag and with newly signed URLs of its media. */
export function sendPost(
  reply: FastifyReply,
  post: Post | undefined,
  links: MediaLinks,
  descriptionsHash?: string,
) {
  // An answer of the posts service without a post is an error of that service, not of the client.
  if (post === undefined) throw new ServiceError("internal", "internal");
  reply.header("etag", toETag(post, descriptionsHash));
  return reply.send(toPostDetail(post, links, reply.request.locale));
}
