import { create, toJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { PostPublishRequestedSchema as BacklogRequestSchema } from "@postrider/contracts/backlog/v1/backlog_events_pb";
import {
  PostCancelledSchema,
  PostDeletedSchema,
  PostDeletionRequestedSchema,
  PostFailedSchema,
  PostPartialSchema,
  PostPublishedSchema,
  PostPublishRequestedSchema,
  PostScheduledSchema,
  QuotaExhaustionSchema,
} from "@postrider/contracts/posts/v1/posts_events_pb";
import { outboxEvent, type OutboxEvent } from "@postrider/shared/outbox";
import type { Placement, PlannedTarget } from "#src/domain/plan-post.ts";
import {
  resetsAt,
  type QuotaDemand,
  type QuotaExhaustion,
  type QuotaTarget,
} from "#src/domain/quota.ts";

interface PostAtVersion {
  readonly workspaceId: string;
  readonly postId: string;
  readonly version: number;
}

interface PublishRequest extends PostAtVersion {
  /** The quotas that the request used up. Default: none. */
  readonly exhausted?: readonly QuotaExhaustion[];
  readonly dueAt: Date;
  readonly publishBefore: Date;
  readonly targets: readonly {
    readonly targetId: string;
    readonly accountId: string;
    readonly platform: string;
    readonly generation: number;
  }[];
}

/** @param isLate Whether it goes to the topic for a backlog. Then it has used up no quota. */
export function postPublishRequested(request: PublishRequest, isLate = false): OutboxEvent {
  const message = {
    workspaceId: request.workspaceId,
    postId: request.postId,
    version: BigInt(request.version),
    targets: request.targets.map(({ targetId, accountId, platform, generation }) => ({
      targetId,
      accountId,
      platform,
      generation,
    })),
    dueAt: timestampFromDate(request.dueAt),
    publishBefore: timestampFromDate(request.publishBefore),
  };
  if (isLate) return outboxEvent(BacklogRequestSchema, message, request.postId);
  const { exhausted = [], targets } = request;
  const used = exhausted.map((each) => toExhaustion(each, targets));
  return outboxEvent(PostPublishRequestedSchema, { ...message, exhausted: used }, request.postId);
}

/** Creates the event of a new or rescheduled post; a draft has none. */
export function postPlaced(
  post: PostAtVersion &
    Placement & {
      readonly occurredAt: Date;
      /** The quotas that the post used up. Default: none. */
      readonly exhausted?: readonly QuotaExhaustion[];
    },
  targets: readonly PlannedTarget[],
): OutboxEvent[] {
  const { scheduledAt, due } = post;
  if (post.status === "scheduled" && scheduledAt !== null)
    return [postScheduled({ ...post, scheduledAt, targets })];
  if (post.status !== "publishing" || due === null) return [];
  const requested = targets.map(({ id: targetId, accountId, platform }) => ({
    targetId,
    accountId,
    platform,
    generation: 1,
  }));
  return [postPublishRequested({ ...post, ...due, targets: requested })];
}

const SETTLED = {
  published: PostPublishedSchema,
  partial: PostPartialSchema,
  failed: PostFailedSchema,
};

export type SettledStatus = keyof typeof SETTLED;

export function isSettled(status: string): status is SettledStatus {
  return Object.hasOwn(SETTLED, status);
}

export function postSettled(
  status: SettledStatus,
  post: PostAtVersion & { readonly occurredAt: Date },
): OutboxEvent {
  return outboxEvent(SETTLED[status], toMoment(post), post.postId);
}

function postScheduled(
  post: PostAtVersion & {
    readonly scheduledAt: Date;
    readonly occurredAt: Date;
    readonly targets: readonly QuotaTarget[];
    readonly exhausted?: readonly QuotaExhaustion[];
  },
): OutboxEvent {
  const message = {
    ...toMoment(post),
    scheduledAt: timestampFromDate(post.scheduledAt),
    exhausted: (post.exhausted ?? []).map((each) => toExhaustion(each, post.targets)),
  };
  return outboxEvent(PostScheduledSchema, message, post.postId);
}

export function postCancelled(post: PostAtVersion & { readonly occurredAt: Date }): OutboxEvent {
  return outboxEvent(PostCancelledSchema, toMoment(post), post.postId);
}

export function postDeleted(post: PostAtVersion & { readonly occurredAt: Date }): OutboxEvent {
  return outboxEvent(PostDeletedSchema, toMoment(post), post.postId);
}

interface DeletionRequest extends PostAtVersion {
  readonly requestedAt: Date;
  readonly targets: readonly {
    readonly targetId: string;
    readonly accountId: string;
    readonly platform: string;
    readonly externalId: string | null;
    readonly deletion: number;
  }[];
}

export function postDeletionRequested(request: DeletionRequest): OutboxEvent {
  const message = {
    workspaceId: request.workspaceId,
    postId: request.postId,
    version: BigInt(request.version),
    targets: request.targets.map(({ targetId, accountId, platform, externalId, deletion }) => ({
      targetId,
      accountId,
      platform,
      externalId: externalId ?? "",
      deletion,
    })),
    requestedAt: timestampFromDate(request.requestedAt),
  };
  return outboxEvent(PostDeletionRequestedSchema, message, request.postId);
}

/** The limit of an app or a project is reported with the first account that it applies to. */
function toExhaustion(
  quota: QuotaExhaustion,
  targets: readonly QuotaTarget[],
): MessageInitShape<typeof QuotaExhaustionSchema> {
  const { subject, period, platform, scope } = quota;
  const counts = {
    limit: BigInt(quota.limit),
    used: BigInt(quota.used),
    reserved: BigInt(quota.reserved),
    resetsAt: timestampFromDate(resetsAt(period)),
  };
  const exhaustedAt = timestampFromDate(quota.exhaustedAt);
  if (quota.code === "monthly" || platform === null)
    return {
      subject,
      period,
      exhaustedAt,
      quota: { case: "monthly", value: { period, ...counts } },
    };
  const target = targets.find((each) => each.platform === platform);
  const accountId = quota.accountId ?? target?.accountId ?? "";
  const value = { platform, accountId, scope, ...counts };
  return { subject, period, exhaustedAt, quota: { case: "daily", value } };
}

/** Proto JSON without amounts, which the statement that stores the post adds. */
export interface PossibleExhaustion extends Pick<QuotaExhaustion, "subject" | "period"> {
  readonly code: "monthly" | "daily";
  readonly message: JsonValue;
}

/** For each quota counter of the workspace that a post may use up: what its event says then. */
export function possibleExhaustions(
  demands: readonly QuotaDemand[],
  targets: readonly QuotaTarget[],
  exhaustedAt: Date,
): readonly PossibleExhaustion[] {
  return demands.flatMap((demand) => {
    const { subject, period, code } = demand;
    if (code === "daily_shared") return [];
    const quota = { ...demand, used: 0, reserved: 0, exhaustedAt };
    const message = create(QuotaExhaustionSchema, toExhaustion(quota, targets));
    return { subject, period, code, message: toJson(QuotaExhaustionSchema, message) };
  });
}

function toMoment({
  workspaceId,
  postId,
  version,
  occurredAt,
}: PostAtVersion & { readonly occurredAt: Date }) {
  return {
    workspaceId,
    postId,
    version: BigInt(version),
    occurredAt: timestampFromDate(occurredAt),
  };
}
