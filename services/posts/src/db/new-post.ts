import type { JsonValue } from "@bufbuild/protobuf";
import { toDeedRecord } from "@postrider/shared/audit/deeds";
import { toEventRecord, type OutboxEvent } from "@postrider/shared/outbox";
import type { KeyedRequest } from "@postrider/shared/postgres/idempotency";
import { currentCause } from "@postrider/shared/telemetry/cause";
import { toTargetRecords } from "#src/db/target-records.ts";
import type { Placement, PlannedTarget } from "#src/domain/plan-post.ts";
import type { PostOptions } from "#src/domain/post.ts";
import type { QuotaDemand } from "#src/domain/quota.ts";

/** A new post to store. Its targets are in the order of the request's accounts. */
export interface NewPost extends Placement {
  readonly id: string;
  readonly workspaceId: string;
  readonly content: string;
  readonly options: PostOptions;
  readonly mediaIds: readonly string[];
  /** The media of the post as the media service returned them, as proto JSON. */
  readonly media: JsonValue[];
  readonly createdVia: string;
  /**
   * The database's time, read before the media service was asked to record that the post uses its media (the claim on media).
   * The age of the claim is counted from this time.
   */
  readonly acceptedAt: Date;
  readonly targets: readonly PlannedTarget[];
}

/** The response that is stored with an idempotency key. */
export interface KeyedResponse {
  readonly request: KeyedRequest;
  readonly response: Uint8Array;
  /** The post to which the response refers for its content; null for a response that contains everything. */
  readonly answeredPostId: string | null;
}

/** What is written in the same SQL statement as a new post. */
export interface Acceptance {
  readonly demands: readonly QuotaDemand[];
  /** Whether the post may be stored although another post has the same content. */
  readonly force: boolean;
  /** The event that announces the post; undefined for a draft. */
  readonly event: OutboxEvent | undefined;
  /** The idempotency key of the request with its response; null for a request without a key. */
  readonly keyed: KeyedResponse | null;
  /**
   * For each quota counter that the post takes quota from: what the event of the post says if the post uses the counter
   * up. It is proto JSON without amounts, which the SQL statement adds. Null: the post must not use up a counter.
   */
  readonly exhaustions:
    | readonly {
        readonly subject: string;
        readonly period: string;
        readonly code: "monthly" | "daily";
        readonly message: JsonValue;
      }[]
    | null;
}

/** A new post as JSON texts of the records that `insertPosts` reads. */
export interface PostRecords {
  readonly id: string;
  readonly isKeyed: boolean;
  readonly hasSlot: boolean;
  readonly post: string;
  readonly targets: string;
  readonly demands: string;
}

function toKeyRecord(keyed: KeyedResponse | null) {
  if (keyed === null) return {};
  const { request, response, answeredPostId } = keyed;
  return {
    operation: request.operation,
    key: request.key,
    fingerprint: request.fingerprint,
    response: Buffer.from(response).toString("base64"),
    answered_post_id: answeredPostId,
  };
}

/** Returns the entry of the audit log about the new post. */
function toDeed({ id, workspaceId, status, targets }: NewPost) {
  const details = { status, targets: targets.length };
  return { action: "post.create", subject: { type: "post", id }, workspaceId, details } as const;
}

function toPostRecord(post: NewPost, { force, event, keyed, exhaustions }: Acceptance) {
  return {
    id: post.id,
    workspace_id: post.workspaceId,
    status: post.status,
    content: post.content,
    options: post.options,
    media_ids: post.mediaIds,
    media: post.media,
    scheduled_at: post.scheduledAt,
    started_at: post.status === "publishing" ? post.acceptedAt : null,
    created_via: post.createdVia,
    queue_slot_rule_id: post.queueSlotRuleId,
    platforms: [...new Set(post.targets.map(({ platform }) => platform))].toSorted(),
    accepted_at: post.acceptedAt,
    due_at: post.due?.dueAt ?? null,
    publish_before: post.due?.publishBefore ?? null,
    force,
    cause: currentCause(),
    deed: toDeedRecord(toDeed(post)),
    event: event === undefined ? null : toEventRecord(event),
    exhaustions,
    ...toKeyRecord(keyed),
  };
}

/**
 * Converts a new post to the records that `insertPosts` reads. Call it in the context of the request, which becomes the cause of
 * the post.
 */
export function toPostRecords(post: NewPost, acceptance: Acceptance): PostRecords {
  const { id, workspaceId, targets } = post;
  const demands = acceptance.demands.map(({ subject, period, requested, limit }) => ({
    post_id: id,
    workspace_id: workspaceId,
    subject,
    period,
    requested,
    ceiling: acceptance.exhaustions === null ? limit - 1 : limit,
  }));
  const targetsOfPost = toTargetRecords(targets).map((target) => ({ post_id: id, ...target }));
  return {
    id,
    isKeyed: acceptance.keyed !== null,
    hasSlot: post.queueSlotRuleId !== null,
    post: JSON.stringify(toPostRecord(post, acceptance)),
    targets: targetsOfPost.map((target) => JSON.stringify(target)).join(","),
    demands: demands.map((demand) => JSON.stringify(demand)).join(","),
  };
}
