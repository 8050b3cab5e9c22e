import type { JsonValue } from "@bufbuild/protobuf";
import { deedInsert } from "@postrider/shared/audit/deeds";
import { eventInsert, type OutboxEvent } from "@postrider/shared/outbox";
import type { ISql } from "@postrider/shared/postgres";
import { currentCause } from "@postrider/shared/telemetry/cause";
import { guardInsert, toGuards } from "#src/db/duplicate-guards.ts";
import { quotaReservation } from "#src/db/quota-usage.ts";
import { findRefusalReason, type RefusalReason } from "#src/db/refusal.ts";
import { slotInsert } from "#src/db/slot-assignments.ts";
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

/**
 * What is written in the same SQL statement as a new post: the quota that the post uses and the events that announce
 * the post.
 */
export interface Acceptance {
  readonly demands: readonly QuotaDemand[];
  /** Whether the post may be stored although another post has the same content. */
  readonly force: boolean;
  readonly events: readonly OutboxEvent[];
  /**
   * For each quota counter that the post takes quota from: what the events of the post say if the post uses the counter
   * up. It is proto JSON without amounts, which the SQL statement adds.
   */
  readonly exhaustions: readonly {
    readonly subject: string;
    readonly period: string;
    readonly code: "monthly" | "daily";
    readonly message: JsonValue;
  }[];
}

/** Thrown when the database refuses to store a new post. Nothing of the post was written. */
export class InsertRefused extends Error {
  readonly reason: RefusalReason;
  readonly post: NewPost;
  readonly demands: readonly QuotaDemand[];

  constructor(reason: RefusalReason, post: NewPost, demands: readonly QuotaDemand[]) {
    super(`the post was not inserted: ${reason}`);
    this.reason = reason;
    this.post = post;
    this.demands = demands;
  }
}

/**
 * Stores a post, its targets and its events, and takes its duplicate guards, its queue slot and its quota, in one SQL
 * statement. Unique indexes and locked rows decide what other posts have taken, not the snapshot of the statement. Each
 * step begins after the previous step has succeeded, and the first step that fails undoes the whole statement. Quota is
 * taken last, because all posts of a workspace lock the same quota counters, which are then locked only during the
 * commit.
 *
 * @throws InsertRefused when another post has the content or the slot, a quota limit is reached, or the claim on media
 *   expired.
 */
export async function insertPost(sql: ISql, post: NewPost, acceptance: Acceptance): Promise<void> {
  const { demands, force } = acceptance;
  try {
    await sql`
      with ${guardStep(sql, post, force)},
      ${slotStep(sql, post)},
      post as (${postInsert(sql, post)}),
      target as (${targetInsert(sql, post)}),
      deed as (${deedInsert(sql, toDeed(post))})
      ${quotaStep(sql, post, demands)}
      ${eventStep(sql, acceptance)}
      ${lastStep(sql, post, demands)}`;
  } catch (error) {
    const reason = findRefusalReason(error);
    throw reason === undefined ? error : new InsertRefused(reason, post, demands);
  }
}

/** Returns the entry of the audit log about the new post. */
function toDeed({ id, workspaceId, status, targets }: NewPost) {
  const details = { status, targets: targets.length };
  return { action: "post.create", subject: { type: "post", id }, workspaceId, details } as const;
}

function guardStep(sql: ISql, post: NewPost, force: boolean) {
  const guards = toGuards(post.workspaceId, post.targets, post.due?.dueAt ?? null);
  if (guards.length === 0) return sql`guarded as (select true as ok)`;
  return sql`
    guard as (${guardInsert(sql, guards, force)}),
    guarded as materialized (
      select case when count(*) = ${guards.length}::int then true else refuse('duplicate_content') end as ok
      from guard
    )`;
}

function slotStep(sql: ISql, post: NewPost) {
  const { workspaceId, id: postId, scheduledAt: slotAt, queueSlotRuleId: ruleId } = post;
  if (ruleId === null || slotAt === null) return sql`slotted as (select ok from guarded)`;
  return sql`
    slot as (${slotInsert(sql, { workspaceId, slotAt, postId, ruleId })}),
    slotted as materialized (
      select case when ok and (select count(*) from slot) = 1 then true else refuse('slot_taken') end as ok
      from guarded
    )`;
}

function postInsert(sql: ISql, post: NewPost) {
  const platforms = [...new Set(post.targets.map(({ platform }) => platform))].toSorted();
  const startedAt = post.status === "publishing" ? post.acceptedAt : null;
  return sql`
    insert into posts (
      id, workspace_id, status, content, options, media_ids, media, scheduled_at, started_at, created_via,
      queue_slot_rule_id, platforms, created_at, updated_at, cause
    )
    select
      ${post.id}::uuid, ${post.workspaceId}::uuid, ${post.status}, ${post.content},
      ${sql.json(post.options as Record<string, never>)}::jsonb, ${`{${post.mediaIds.join(",")}}`}::uuid[],
      ${sql.json(post.media)}::jsonb, ${post.scheduledAt}::timestamptz, ${startedAt}::timestamptz, ${post.createdVia},
      ${post.queueSlotRuleId}::uuid, ${`{${platforms.join(",")}}`}::text[], ${post.acceptedAt}::timestamptz,
      ${post.acceptedAt}::timestamptz, ${sql.json(currentCause())}::jsonb
    from slotted
    where ok
    and ${mediaUseHolds(sql, { mediaIds: post.mediaIds, notedAfter: post.acceptedAt })}
    returning id, workspace_id, created_at`;
}

function targetInsert(sql: ISql, { due, targets }: NewPost) {
  // The delivery service reports nothing about a target before the target is due. The sweep, which asks about targets
  // without reports, therefore counts from the due time.
  return sql`
    insert into targets (
      id, workspace_id, post_id, ordinal, account_id, platform, username, generation, due_at, publish_before, due_day,
      content_hash, settings, last_news_at, updated_at
    )
    select
      target.id, post.workspace_id, post.id, ordinal, account_id, platform, username, 1, ${due?.dueAt ?? null}::timestamptz,
      ${due?.publishBefore ?? null}::timestamptz, due_day, decode(content_hash, 'hex'), settings,
      coalesce(${due?.dueAt ?? null}::timestamptz, post.created_at), post.created_at
    from post, jsonb_to_recordset(${sql.json(toTargetRecords(targets))}) as target (
      id uuid, ordinal int, account_id uuid, platform text, username text, due_day text, content_hash text, settings jsonb
    )
    returning id`;
}

/**
 * Returns the SQL of the field `exhausted` of the events of a new post: the quotas that the post uses up; null if there
 * are none. Postgres inserts the events after it has taken the quota, because no other step reads the result of that
 * insert.
 */
function exhausted(sql: ISql, { exhaustions }: Acceptance): ReturnType<ISql> | undefined {
  if (exhaustions.length === 0) return undefined;
  return sql`(
    select jsonb_build_object('exhausted', jsonb_agg(
      message || jsonb_build_object(
        code, message -> code || jsonb_build_object('used', used::text, 'reserved', reserved::text)
      )
      order by code desc, subject
    ))
    from quota
    join jsonb_to_recordset(${sql.json(exhaustions)}) as exhaustion (
      subject text, period text, code text, message jsonb
    ) using (subject, period)
    where is_exhausted
    having count(*) > 0
  )`;
}

function eventStep(sql: ISql, acceptance: Acceptance) {
  const { events } = acceptance;
  if (events.length === 0) return sql``;
  return sql`, event as (${eventInsert(sql, events, exhausted(sql, acceptance))})`;
}

function quotaStep(sql: ISql, post: NewPost, demands: readonly QuotaDemand[]) {
  const { workspaceId, acceptedAt: now } = post;
  if (demands.length === 0) return sql``;
  return sql`, quota as (${quotaReservation(sql, { workspaceId, demands, now })})`;
}

/**
 * Returns the SQL that takes the quota after everything else of a new post is written. It counts the inserted targets, which
 * forces Postgres to write the targets before it takes the quota.
 */
function lastStep(sql: ISql, { targets }: NewPost, demands: readonly QuotaDemand[]) {
  if (demands.length === 0) return sql`select count(*) from target`;
  return sql`
    select case
      when written.count = ${targets.length}::int and (select count(*) from quota) = ${demands.length}::int then true
      else refuse('quota_exceeded')
    end
    from (select count(*) from target) as written`;
}

/** Converts the targets of a new post to the JSON records that `jsonb_to_recordset` reads. */
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

/**
 * Returns the SQL condition under which a statement may store a post that uses media. The media service drops a claim
 * on media after 10 minutes if the post does not exist, so a process that was suspended for longer must not store the
 * post. The condition already fails with `media_use_expired` after 5 minutes, because the commit still takes some time.
 *
 * @param notedAfter The database's time, read before the media service was asked to record that the post uses the media.
 */
export function mediaUseHolds(
  sql: ISql,
  { mediaIds, notedAfter }: { readonly mediaIds: readonly string[]; readonly notedAfter: Date },
) {
  if (mediaIds.length === 0) return sql`true`;
  return sql`
    case
      when clock_timestamp() < ${notedAfter}::timestamptz + interval '5 minutes' then true
      else refuse('media_use_expired')
    end`;
}
