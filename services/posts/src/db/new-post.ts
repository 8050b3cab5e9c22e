import type { JsonValue } from "@bufbuild/protobuf";
import { toDeedRecord } from "@postrider/shared/audit/deeds";
import { type OutboxEvent, toEventRecord } from "@postrider/shared/outbox";
import type { ISql } from "@postrider/shared/postgres";
import type { KeyedRequest } from "@postrider/shared/postgres/idempotency";
import { currentCause } from "@postrider/shared/telemetry/cause";
import type { Placement, PlannedTarget } from "#src/domain/plan-post.ts";
import type { PostContent, PostTiming } from "#src/domain/post.ts";
import type { QuotaDemand } from "#src/domain/quota.ts";

export interface PostRequest extends PostContent {
  readonly workspaceId: string;
  readonly timing: PostTiming;
  readonly createdVia: string;
  /** Whether the post may be stored although another post has the same content. */
  readonly force: boolean;
  /** The client's idempotency key; null when the client sent no key. */
  readonly keyed: KeyedRequest | null;
}

export interface NewPost extends PostRequest, Placement {
  readonly id: string;
  readonly media: JsonValue[];
  /** The database's time before the claim on media was made, from which its age is counted. */
  readonly acceptedAt: Date;
  readonly targets: readonly PlannedTarget[];
  readonly demands: readonly QuotaDemand[];
}

export interface KeyedResponse {
  readonly response: Uint8Array;
  /** The post to which the response refers for its content; null = it contains everything. */
  readonly answeredPostId: string | null;
}

export interface Additions {
  /** The event that announces the post; undefined for a draft. */
  readonly event: OutboxEvent | undefined;
  readonly response: KeyedResponse | null;
  /**
   * For each counter, what the post's event says if it uses the counter up: proto JSON without
   * amounts, which the statement adds. Null: it must not use up one of the workspace.
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

export interface PostRecords {
  readonly id: string;
  readonly isKeyed: boolean;
  readonly hasSlot: boolean;
  readonly post: string;
  readonly targets: string;
  readonly demands: string;
}

function toKeyRecord(keyed: KeyedRequest | null, stored: KeyedResponse | null) {
  if (keyed === null || stored === null) return {};
  const { operation, key, fingerprint } = keyed;
  const response = Buffer.from(stored.response).toString("base64");
  return { operation, key, fingerprint, response, answered_post_id: stored.answeredPostId };
}

function toDeed({ id, workspaceId, status, targets }: NewPost) {
  const details = { status, targets: targets.length };
  return { action: "post.create", subject: { type: "post", id }, workspaceId, details } as const;
}

function toPostRecord(post: NewPost, { event, response, exhaustions }: Additions) {
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
    force: post.force,
    cause: currentCause(),
    deed: toDeedRecord(toDeed(post)),
    event: event === undefined ? null : toEventRecord(event),
    exhaustions,
    ...toKeyRecord(post.keyed, response),
  };
}

/** Call it in the context of the request, which becomes the cause of the post. */
export function toPostRecords(post: NewPost, additions: Additions): PostRecords {
  const { id, targets } = post;
  const mayExhaust = additions.exhaustions !== null;
  const demands = post.demands.map(({ code, workspaceId, subject, period, requested, limit }) => ({
    post_id: id,
    workspace_id: workspaceId,
    subject,
    period,
    requested,
    ceiling: mayExhaust || code === "daily_shared" ? limit : limit - 1,
  }));
  const targetsOfPost = toTargetRecords(targets).map((target) => ({ post_id: id, ...target }));
  return {
    id,
    isKeyed: post.keyed !== null,
    hasSlot: post.queueSlotRuleId !== null,
    post: JSON.stringify(toPostRecord(post, additions)),
    targets: targetsOfPost.map((target) => JSON.stringify(target)).join(","),
    demands: demands.map((demand) => JSON.stringify(demand)).join(","),
  };
}

/** For `jsonb_to_recordset`. */
export function toTargetRecords(targets: readonly PlannedTarget[]) {
  return targets.map((target, ordinal) => ({
    id: target.id,
    ordinal,
    account_id: target.accountId,
    platform: target.platform,
    username: target.username,
    due_day: target.dueDay,
    content_hash: target.contentHash,
    settings: target.settings as Record<string, never> | null,
  }));
}

/** For `jsonb_to_recordset`. */
function recordset(sql: ISql, texts: readonly string[]) {
  return sql`jsonb_to_recordset(${`[${texts.filter((text) => text !== "").join(",")}]`}::text::jsonb)`;
}

export function inputSteps(sql: ISql, posts: readonly PostRecords[]) {
  return sql`
    input as materialized (
      select *
      from rows from (
        ${recordset(
          sql,
          posts.map(({ post }) => post),
        )} as (
          id uuid, workspace_id uuid, status text, content text, options jsonb, media_ids uuid[], media jsonb,
          scheduled_at timestamptz, started_at timestamptz, created_via text, queue_slot_rule_id uuid, platforms text[],
          accepted_at timestamptz, due_at timestamptz, publish_before timestamptz, force boolean, cause jsonb, deed jsonb,
          event jsonb, exhaustions jsonb, operation text, key text, fingerprint text, response text, answered_post_id uuid
        )
      ) with ordinality as input
    ),
    input_target as materialized (
      select target.*, decode(content_hash, 'hex') as hash
      from ${recordset(
        sql,
        posts.map(({ targets }) => targets),
      )} as target (
        id uuid, post_id uuid, ordinal int, account_id uuid, platform text, username text, due_day text,
        content_hash text, settings jsonb
      )
    ),
    demand as materialized (
      select demand.*, input.ordinality
      from ${recordset(
        sql,
        posts.map(({ demands }) => demands),
      )} as demand (
        post_id uuid, workspace_id uuid, subject text, period text, requested int, ceiling int
      )
      join input on input.id = demand.post_id
    )`;
}
