import { fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs, type Timestamp } from "@bufbuild/protobuf/wkt";
import { TargetMetricsSchema } from "@postrider/contracts/engagement/v1/metrics_service_pb";
import { MediaSchema } from "@postrider/contracts/media/v1/media_pb";
import { toOptionMessages } from "@postrider/contracts/post-options";
import type {
  AttemptSchema,
  PostSchema,
  TargetErrorSchema,
  TargetSchema,
} from "@postrider/contracts/posts/v1/post_pb";
import type { NewPost } from "#src/db/new-post.ts";
import type { PostRow, TargetJson } from "#src/db/posts.ts";
import { shownTargetStatus, type PostStatus } from "#src/domain/post-status.ts";

type PostInit = MessageInitShape<typeof PostSchema>;

/** A message field for a nullable column; it is omitted if the column is null. */
export function instant<K extends string>(
  name: K,
  value: Date | string | null,
): { [key in K]?: Timestamp } {
  if (value === null) return {};
  const at =
    typeof value === "string" ? timestampFromMs(Date.parse(value)) : timestampFromDate(value);
  return { [name]: at } as { [key in K]?: Timestamp };
}

export function text<K extends string>(name: K, value: string | null): { [key in K]?: string } {
  return value === null ? {} : ({ [name]: value } as { [key in K]?: string });
}

function toError(target: TargetJson): { error?: MessageInitShape<typeof TargetErrorSchema> } {
  const { errorCode: code, errorMessage, errorRetryable } = target;
  if (code === null) return {};
  return { error: { code, message: errorMessage ?? "", retryable: errorRetryable ?? false } };
}

function toTarget(post: PostStatus, target: TargetJson): MessageInitShape<typeof TargetSchema> {
  return {
    id: target.id,
    accountId: target.accountId,
    platform: target.platform,
    username: target.username,
    status: shownTargetStatus(post, target.status),
    attemptCount: target.attemptCount,
    ...text("externalId", target.externalId),
    ...text("permalink", target.permalink),
    ...instant("publishedAt", target.publishedAt),
    ...instant("nextAttemptAt", target.nextAttemptAt),
    ...toError(target),
    ...toMetrics(target),
  };
}

function toMetrics({ metrics }: TargetJson): {
  metrics?: MessageInitShape<typeof TargetMetricsSchema>;
} {
  if (metrics === null) return {};
  return { metrics: fromJson(TargetMetricsSchema, metrics, { ignoreUnknownFields: true }) };
}

function toAttempts({
  accountId,
  attempts,
}: TargetJson): readonly MessageInitShape<typeof AttemptSchema>[] {
  return attempts.map(({ startedAt, finishedAt, ...rest }) => ({
    accountId,
    ...rest,
    ...instant("startedAt", startedAt),
    ...instant("finishedAt", finishedAt),
  }));
}

export function toPost(row: PostRow): PostInit {
  return {
    id: row.id,
    workspaceId: row.workspaceId,
    status: row.status,
    content: row.content,
    options: toOptionMessages(row.options),
    mediaIds: [...row.mediaIds],
    media: row.media.map((json) => fromJson(MediaSchema, json, { ignoreUnknownFields: true })),
    createdVia: row.createdVia,
    createdAt: timestampFromDate(row.createdAt),
    updatedAt: timestampFromDate(row.updatedAt),
    version: BigInt(row.version),
    targets: row.targets.map((target) => toTarget(row.status, target)),
    attempts: row.targets.flatMap(toAttempts),
    ...instant("scheduledAt", row.scheduledAt),
    ...instant("startedAt", row.startedAt),
    ...instant("publishedAt", row.publishedAt),
    ...text("queueSlotRuleId", row.queueSlotRuleId),
  };
}

/** The values of a target's fields until the delivery service reports about the target. */
const UNREPORTED = {
  status: "pending",
  externalId: null,
  permalink: null,
  publishedAt: null,
  errorCode: null,
  errorMessage: null,
  errorRetryable: null,
  attemptCount: 0,
  nextAttemptAt: null,
  metrics: null,
  attempts: [],
} as const;

/** Converts a new post to the message that GetPost will return for it. */
export function toAcceptedPost(post: NewPost): PostInit {
  const { acceptedAt } = post;
  return toPost({
    ...post,
    startedAt: post.status === "publishing" ? acceptedAt : null,
    publishedAt: null,
    createdAt: acceptedAt,
    updatedAt: acceptedAt,
    version: 1,
    effectiveAt: post.scheduledAt ?? acceptedAt,
    targets: post.targets.map((target) => ({ ...target, ...UNREPORTED })),
  });
}
