import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { MediaSchema } from "@postrider/contracts/media/v1/media_pb";
import { PostSchema, type Post } from "@postrider/contracts/posts/v1/post_pb";
import type { Locale } from "@postrider/rest/locale";
import { toTargetError } from "@postrider/rest/posts/mapping";
import type { MetricsJson, PostDetailJson, PostTargetJson } from "@postrider/rest/posts/schemas";
import type { NewPost } from "#src/db/new-post.ts";
import type { PostRow, TargetJson } from "#src/db/posts.ts";
import { shownTargetStatus, type PostStatus } from "#src/domain/post-status.ts";
import type { PostOptions } from "#src/domain/post.ts";

export function toLocale(text: string): Locale {
  return text === "ko" ? "ko" : "en";
}

/** RFC 3339 in UTC with milliseconds. Postgres leaves zeros at the end of texts in JSON out. */
function toInstant(value: Date | string): string {
  return (typeof value === "string" ? new Date(value) : value).toISOString();
}

function toOptionalInstant(value: Date | string | null): string | null {
  return value === null ? null : toInstant(value);
}

/** Postgres stores the fields of an option in an order of its own. */
export function toOptions(options: PostOptions): PostDetailJson["options"] {
  const ordered = Object.entries(options).map(([key, option]) => {
    const { content, title, privacy, tags } = option;
    return [key, { content, title, privacy, tags: tags && [...tags] }];
  });
  return Object.fromEntries(ordered) as PostDetailJson["options"];
}

const DELETION_STATUSES: ReadonlySet<string> = new Set(["deleting", "deleted", "delete_failed"]);

/** That of its deletion if one was requested, otherwise that of publishing. */
function toErrorOf(target: TargetJson, status: string, locale: Locale) {
  const { errorCode: code, errorMessage, errorRetryable, platform, nextAttemptAt } = target;
  if (code === null) return null;
  const error = { code, message: errorMessage ?? "", retryable: errorRetryable ?? false };
  const work = DELETION_STATUSES.has(status) ? "deletion" : "publication";
  const next = toOptionalInstant(nextAttemptAt);
  return toTargetError(error, { work, status, platform, nextAttemptAt: next }, locale);
}

function toTarget(post: PostStatus, target: TargetJson, locale: Locale): PostTargetJson {
  const status = shownTargetStatus(post, target.status);
  return {
    id: target.id,
    accountId: target.accountId,
    platform: target.platform,
    username: target.username,
    status,
    externalId: target.externalId,
    permalink: target.permalink,
    publishedAt: toOptionalInstant(target.publishedAt),
    error: toErrorOf(target, status, locale),
    attemptCount: target.attemptCount,
    nextAttemptAt: toOptionalInstant(target.nextAttemptAt),
    metrics: target.metrics === null ? null : toMetrics(target.metrics),
  };
}

/** From the proto JSON of TargetMetrics, in which numbers are texts. */
function toMetrics(stored: JsonValue): MetricsJson | null {
  const values = stored as Readonly<Record<string, string | undefined>>;
  const countOf = (name: string) => (values[name] === undefined ? null : Number(values[name]));
  const { refreshedAt } = values;
  if (refreshedAt === undefined) return null;
  return {
    views: countOf("views"),
    impressions: countOf("impressions"),
    reach: countOf("reach"),
    likes: countOf("likes"),
    comments: countOf("comments"),
    shares: countOf("shares"),
    saves: countOf("saves"),
    refreshedAt: toInstant(refreshedAt),
  };
}

function toAttempts({ accountId, attempts }: TargetJson): PostDetailJson["attempts"] {
  return attempts.map(({ number, startedAt, finishedAt, outcome, code, message }) => ({
    accountId,
    number,
    startedAt: toInstant(startedAt),
    finishedAt: toOptionalInstant(finishedAt),
    outcome,
    code: code === "" ? null : code,
    message: message === "" ? null : message,
  }));
}

/** In the order of the REST interface. */
function toDetail(row: PostRow, locale: Locale): PostDetailJson {
  return {
    id: row.id,
    status: row.status,
    content: row.content,
    scheduledAt: toOptionalInstant(row.scheduledAt),
    startedAt: toOptionalInstant(row.startedAt),
    publishedAt: toOptionalInstant(row.publishedAt),
    createdVia: row.createdVia,
    createdAt: toInstant(row.createdAt),
    updatedAt: toInstant(row.updatedAt),
    mediaIds: [...row.mediaIds],
    options: toOptions(row.options),
    queueSlotRuleId: row.queueSlotRuleId,
    // The gateway fills them in, with signed addresses.
    media: [],
    targets: row.targets.map((target) => toTarget(row.status, target, locale)),
    attempts: row.targets.flatMap(toAttempts),
  };
}

/** `locale`: of the texts about errors. */
export function toPost(row: PostRow, locale: Locale = "en"): Post {
  return create(PostSchema, {
    id: row.id,
    workspaceId: row.workspaceId,
    version: BigInt(row.version),
    json: JSON.stringify(toDetail(row, locale)),
    media: row.media.map((json) => fromJson(MediaSchema, json, { ignoreUnknownFields: true })),
  });
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
export function toAcceptedPost(post: NewPost): Post {
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
